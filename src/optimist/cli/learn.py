"""``optimist learn``: learn one world with one agent."""

from typing import Any

from optimist.cli.certified import learn_until
from optimist.cli.flags import EPISODES
from optimist.cli.live import check_recording, record, shown
from optimist.cli.mistakes import check_writable, user_errors
from optimist.cli.studies import finish
from optimist.core import storage
from optimist.errors import StudyError
from optimist.experiments import Study


def _feeds(study: Study, given: Any) -> dict[str, Any]:
    """The feed of each run, if runs are shown or the first one is recorded."""
    if not given.live.live and given.record is None:
        return {}
    from optimist.live import Feed

    first = study.runs[0]
    return {
        run.spec.id: Feed(given.record is not None and run is first, run.spec.length, study.unit)
        for run in study.runs
    }


def main(given: Any) -> int:
    world, agent = given.world_name, given.agent_name
    check_writable(given.policy, given.record)
    check_recording(given.record)
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
    feeds = _feeds(study, given)
    with shown(study, given.out, given.live, feeds) as place:
        watch = (lambda run: feeds[run.spec.id]) if feeds else None
        code, results = finish(study, given.out, given.workers, given.json, place, watch)
        if given.record is not None and results is not None:
            record(feeds[study.runs[0].spec.id], given.record)
    if given.policy is not None and results is not None and results.finished:
        learnt = results.folder.of(results.finished[0]).file("policy.safetensors")
        if not learnt.exists():
            raise StudyError(f"the policy of {agent} cannot be saved in a file")
        storage.write_bytes(given.policy, learnt.read_bytes())
    return code
