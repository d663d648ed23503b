"""Parts of the page for studies with Gymnasium environments."""

from typing import Any

PARTS = {
    "return_terms": """
<dl class="terms" data-returns>
<dt>mean return</dt><dd>the sum of the rewards of an episode, in the units of the environment,
averaged over all episodes of the run. Higher is better; no optimum is known here.</dd>
<dt>final return</dt><dd>the same, over the last tenth of the episodes.</dd>
</dl>
""",
    "return_chart": """
<figure data-returns><figcaption><b>Return</b> <span class="quiet">of an episode, each point the
mean since the one before; the mean over the seeds</span></figcaption>
<div class="chart" id="return"></div></figure>
""",
    "maps": """
<p class="prose" data-returns>Drag the slider. The plane is the space of observations. The colour
of a cell shows what the agent believes about its centre, visited or not. Where little is known,
bonuses and imagined transitions to heaven raise the agent's values; as it visits a region, its
optimism fades there, and it explores elsewhere. The colour scales do not change along the slider.
Maps are stored to three digits.</p>
""",
}
"""The parts by their names in the template."""

LOSSES = {
    "measured_by": "exact values",
    "curve": "Suboptimality",
    "better": "lower average suboptimality",
    "best": "lowest average",
}
RETURNS = {
    "measured_by": "returns",
    "curve": "Return",
    "better": "higher mean return",
    "best": "highest mean return",
}
BOTH = {
    "measured_by": "exact values, and by returns where none are known",
    "curve": "Suboptimality or return",
    "better": "lower average suboptimality, or the higher mean return where no optimum is known,",
    "best": "lowest average or the highest mean return",
}
"""Names of what is measured, in worlds of one kind or of both."""


def parts(data: dict[str, Any]) -> dict[str, str]:
    """The parts, empty if there are no environments, and the wording."""
    there = any(world.get("returns") for world in data["worlds"])
    return {**(PARTS if there else dict.fromkeys(PARTS, "")), **wording(data)}


def wording(data: dict[str, Any]) -> dict[str, str]:
    """The names of what is measured in these worlds."""
    kinds = {bool(world.get("returns")) for world in data["worlds"]}
    return BOTH if len(kinds) > 1 else RETURNS if True in kinds else LOSSES
