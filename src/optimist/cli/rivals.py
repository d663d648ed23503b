"""``optimist imitate --learner``: imitate trajectories by another learner than FRA-IL."""

import sys
from typing import Any

from optimist.cli import OK
from optimist.cli.mistakes import user_errors
from optimist.cli.studies import print_json
from optimist.cli.tables import a_console, new_table, percent, show_agents
from optimist.core.timed import table_in
from optimist.imitation import IMITATORS, TrajectoryDataset
from optimist.imitation.trajectory_files import holds_trajectories
from optimist.parameters import to_plain
from optimist.stopping import INTERRUPTED


def main(given: Any) -> int:
    """Imitate, write the policies, and show the loss of the output."""
    with user_errors():
        il = imitator(given)
        code = _learn(il, given.episodes)
        if given.policy is not None:
            il.policy.save(given.policy)
        if given.output is not None:
            il.output.save(given.output)
        found = outcome(il, given.world.mdp)
    if given.json:
        print_json(found)
        return code
    table = new_table(f"{given.learner} in {given.world_name}", "what", numbers=("it is",))
    table.add_row("the expert's trajectories", f"{found['trajectories']:,}")
    table.add_row("episodes and steps played", f"{found['episodes']:,}, {found['steps']:,}")
    for name, who in (
        ("uniform", "uniform play"), ("policy", "the last policy"), ("output", "the output"),
    ):  # fmt: skip
        table.add_row(f"lost by {who}", percent(found[f"lost_{name}"]))
    console = a_console()
    console.print(table)
    console.print(
        "lost: suboptimality in percent of the optimal value, by the world's own rewards,\n"
        "which the learner never sees; the output is the policy of the theorem"
    )
    show_agents(found["agents"])
    return code


def imitator(given: Any) -> Any:
    """The imitator of a command line, before it learns."""
    kind: Any = IMITATORS[given.learner]
    if given.states is None and not holds_trajectories(given.expert):
        raise ValueError(
            f"{given.expert} must hold trajectories, as {given.learner} learns from them; it holds "
            "features, from which FraIL learns. `optimist expert WORLD --trajectories N` records "
            "trajectories"
        )
    columns = None if given.states is None else given.states.split(",")
    data = TrajectoryDataset.load(given.expert, columns)
    try:
        data = data.in_world(given.world)
    except ValueError as error:
        raise ValueError(
            f"{given.expert} holds {data.contents}, which do not fit {given.world_name}: {error}"
        ) from None
    how: Any = {"seed": given.seed, "stride": max(1, given.episodes // 400)}
    return kind(given.world, data, K=given.episodes, config=given.config, **how)


def _learn(il: Any, episodes: int) -> int:
    """Learn until the end or an interruption; the exit code."""
    try:
        il.learn(episodes) if il.plays else il.learn()
    except KeyboardInterrupt:
        if not il.episodes:
            raise
        print(f"interrupted after {il.episodes:,} episodes", file=sys.stderr)
        return INTERRUPTED
    return OK


def outcome(il: Any, mdp: Any) -> dict[str, Any]:
    """The results as data."""
    best, name = mdp.optimal().value, type(il).__name__

    def lost(pi: Any) -> float:
        return float((best - mdp.value(pi)) / (best or 1.0))

    return {
        "agents": {name: {"agent": name, **to_plain(il.config)}},
        "episodes": il.episodes,
        "steps": il.steps,
        "trajectories": len(il.expert),
        "lost_uniform": lost(mdp.uniform_policy),
        "lost_policy": lost(table_in(mdp, il.policy)),
        "lost_output": lost(table_in(mdp, il.output)),
    }
