"""What the page says and shows only if the study has Gymnasium environments."""

from typing import Any

PARTS = {
    "return_terms": """
<dl class="terms" data-returns>
<dt>mean return</dt><dd>the sum of the rewards of an episode, as the environment paid them, on
average over all episodes of the run. The more the better; no optimum is known here.</dd>
<dt>final return</dt><dd>the same, over the last tenth of the episodes.</dd>
</dl>
""",
    "return_chart": """
<figure data-returns><figcaption><b>Return</b> <span class="quiet">of an episode, each point the
mean since the one before; the mean over the seeds</span></figcaption>
<div class="chart" id="return"></div></figure>
""",
    "maps": """
<p class="prose" data-returns>Drag the slider. The plane is that of the observations, and every
cell is coloured by what the agent believes of its centre, whether it has been there or not. Where
little is known, bonuses and imagined transitions to heaven raise its values. What it visits it
comes to know: there the optimism fades, and the search goes on elsewhere. Colours keep their
meaning along the slider. The numbers of maps are kept to three digits.</p>
""",
}
"""By their names in the template."""

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
"""How the page says what is measured, in worlds of one kind or of both."""


def parts(data: dict[str, Any]) -> dict[str, str]:
    """All of them if there are environments, and else nothing for each; and the words."""
    there = any(world.get("returns") for world in data["worlds"])
    return {**(PARTS if there else dict.fromkeys(PARTS, "")), **words(data)}


def words(data: dict[str, Any]) -> dict[str, str]:
    """How it is said what is measured."""
    kinds = {bool(world.get("returns")) for world in data["worlds"]}
    return BOTH if len(kinds) > 1 else RETURNS if True in kinds else LOSSES
