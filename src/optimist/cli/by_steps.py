"""``optimist learn gym:ID --steps N``: runs of so many steps, one seed after the other.

They are no study: its curves are by episodes, of which each of these runs has another number.
"""

from typing import Any

import numpy as np

from optimist import checks
from optimist.agents import PythonAgent, VariantAgent
from optimist.cli import OK
from optimist.cli.flags import Workers
from optimist.cli.mistakes import user_errors
from optimist.cli.studies import print_json
from optimist.cli.tables import RETURNS, a_console, compact, counted, new_table, show_agents
from optimist.envs import Gym
from optimist.errors import StudyError
from optimist.experiments import Study
from optimist.experiments.specification import agent_table
from optimist.text import printable


def main(given: Any) -> int:
    world, agent = given.world_name, given.agent_name
    if not isinstance(given.world, Gym):
        raise StudyError(
            f"--steps applies to Gymnasium environments: give --episodes; in {world} they have "
            f"{given.world.mdp.horizon:g} steps in the mean"
        )
    if given.out is not None or given.workers != Workers():
        raise StudyError(
            "--out, --jobs, --executor, --address and --tensorboard apply to studies, which are by "
            "episodes: leave them out, or give --episodes instead of --steps"
        )
    with user_errors():
        steps = checks.count(given.steps, "steps")
        most = steps if given.episodes is None else given.episodes
        study = Study({world: given.world}, {agent: given.agent}, most, given.seeds, given.seed)
        runs = [_learn(run, given) for run in study.runs]
    tables = {agent: agent_table(study.configurations[agent])}
    if given.json:
        print_json({"agents": tables, "runs": runs})
        return OK
    title = f"{agent} in {world} ({counted(len(runs), 'seed')}, {steps:,} steps)"
    table = new_table(title, numbers=("seed", "episodes", "steps", "return", "at the end"))
    for run in runs:
        whole = (f"{run[name]:,}" for name in ("seed", "episodes", "steps"))
        table.add_row(*whole, *(compact(run[name]) for name in ("mean_return", "final_return")))
    means = (np.mean([r[name] for r in runs]) for name in ("mean_return", "final_return"))
    table.add_section()
    table.add_row("mean", "", "", *(compact(float(mean)) for mean in means))
    a_console().print(table)
    a_console().print(RETURNS)
    for how in dict.fromkeys(run["played"] for run in runs if run["played"]):
        a_console().print(printable(f"{world}: {how}"))
    show_agents(tables)
    return OK


def _learn(run: Any, given: Any) -> dict[str, Any]:
    """One run; the first one saves its policy, if that was asked for."""
    learner, saves = run.spec.learner(), run.index == 0 and given.policy is not None
    if saves and isinstance(learner, PythonAgent) and not learner.tabular:
        raise StudyError(f"{run.agent} has no policy to save: its states are not numbered")
    history = learner.learn(given.episodes, steps=given.steps)
    if saves:
        learner.policy.save(given.policy)
    return {
        "seed": run.index,
        "episodes": learner.episodes,
        "steps": learner.steps,
        "played": learner.played if isinstance(learner, VariantAgent) else None,
        "mean_return": history.mean_return(),
        "final_return": history.mean_return(last=max(1, learner.episodes // 10)),
    }
