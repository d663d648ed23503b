"""Parts of the page for studies with imitators."""

from typing import Any

PARTS = {
    "imitators_lose": """
<p>An <b>imitator</b> never sees a reward. Its losses are still measured by the true rewards, and
against its expert, which is optimal.</p>
""",
    "matching_switch": """
<fieldset class="switch" data-matching><legend>Matching error</legend>
<label><input type="radio" name="matching" data-state="matching" value="matching_error" checked>
<span>each policy</span></label>
<label><input type="radio" name="matching" data-state="matching" value="average_matching_error">
<span>average so far</span></label></fieldset>
""",
    "matching_chart": """
<figure data-matching><figcaption><b>Matching error</b> <span class="quiet">distance of imitators'
features from the expert's; the mean over the seeds</span></figcaption>
<div class="chart" id="matching"></div></figure>
""",
    "imitators_hope": """
<p class="prose">An imitator constructs its own rewards: they are high where the expert is more
often than the imitator, and they change all the time. Its values are therefore not comparable with
true values, and a single policy may be bad even late. Compare its occupancy with the expert's: it
visits red cells too often and blue cells too rarely.</p>
""",
}
"""The parts by their names in the template."""


def parts(data: dict[str, Any]) -> dict[str, str]:
    """The parts if there are imitators; otherwise they are empty."""
    curves = [curve for world in data["worlds"] for curve in world["curves"].values()]
    there = any("matching_error" in curve for curve in curves)
    return PARTS if there else dict.fromkeys(PARTS, "")
