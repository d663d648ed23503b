"""``optimist learn``: learn one world with one agent."""

from typing import Any

from optimist.cli.certified import learn_until
from optimist.cli.flags import EPISODES
from optimist.cli.mistakes import check_writable, user_errors
from optimist.cli.studies import finish
from optimist.core import storage
from optimist.errors import StudyError
from optimist.experiments import Study


def main(given: Any) -> int:
    world, agent = given.world_name, given.agent_name
    check_writable(given.policy)
    episodes = EPISODES if given.episodes is None and given.steps is None else given.episodes
    with user_errors():
        study = Study(
            worlds={world: given.world},
            agents={agent: given.agent},
            episodes=episodes,
            steps=given.steps,
            seeds=given.seeds,
            seed=given.seed,
            title=f"{agent} in {world}",
        )
    if given.until is not None:
        return learn_until(study, given)
    code, results = finish(study, given.out, given.workers, given.json)
    if given.policy is not None and results is not None and results.finished:
        learnt = results.folder.of(results.finished[0]).file("policy.safetensors")
        if not learnt.exists():
            raise StudyError(f"{agent} has no policy that a file can hold")
        storage.write_bytes(given.policy, learnt.read_bytes())
    return code
