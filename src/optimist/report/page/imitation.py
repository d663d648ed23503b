"""What the page says and shows only if somebody in the study imitates an expert."""

from typing import Any

PARTS = {
    "imitators_lose": """
<p>An <b>imitator</b> never sees a reward. What it loses is measured by the true rewards all the
same, and against the expert that it imitates, which is optimal.</p>
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
<p class="prose">An imitator has to make up its rewards: they are high where it sees the expert more
often than itself, and they change all the time. So its values do not compare with true ones, and a
single policy may stray even late. Compare where it spends its time with where the expert does: red
cells are those that it visits too often, blue ones those it neglects.</p>
""",
}
"""By their names in the template."""


def parts(data: dict[str, Any]) -> dict[str, str]:
    """All of them if there are imitators, and else nothing for each."""
    curves = [curve for world in data["worlds"] for curve in world["curves"].values()]
    there = any("matching_error" in curve for curve in curves)
    return PARTS if there else dict.fromkeys(PARTS, "")
