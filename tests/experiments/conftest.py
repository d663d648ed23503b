"""Runs of every kind, and a process that starts runs and kills them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from optimist import (
    Cfpo,
    Optimist,
    OptimisticVI,
    Prover,
    Psrl,
    RaviUcb,
    Rlsvi,
    Rmax,
    RmaxRaviUcb,
    envs,
)
from optimist.experiments import Specification
from optimist.experiments.execute import Task, execute
from optimist.experiments.learners import ImitationConfig
from optimist.experiments.study_folder import StudyFolder
from optimist.imitation import Box

ANYTIME = RmaxRaviUcb.Config(beta=0.3, eta=0.5, updates=1, anytime=True)

SHOWN_PAIRS = ImitationConfig(Box(-1.0, 1.0), fresh=True, samples=20, features="pairs")

PLAYED_BY_CFPO = ImitationConfig(player=Cfpo.Config())

RUNS = {
    "river": Specification(envs.RiverSwim(6), RmaxRaviUcb.Config(), 6, stride=2, seed=3),
    "sea": Specification(envs.DeepSea(4), Rmax.Config(), 7, stride=3, seed=1),
    "linear": Specification(envs.RandomLinear(3, 8, 2), RaviUcb.Config(), 10, stride=4, seed=2),
    "optimist": Specification(envs.RiverSwim(5), Optimist.Config(), 90, stride=4, seed=9),
    "grid": Specification(envs.GridWorld(), OptimisticVI.Config(), 400, stride=10, seed=5),
    "anytime": Specification(envs.RiverSwim(4), ANYTIME, 300, stride=1, seed=0),
    "posterior": Specification(envs.GridWorld(), Psrl.Config(), 60, stride=3, seed=6),
    "noise": Specification(envs.RandomLinear(3, 8, 2), Rlsvi.Config(), 60, stride=2, seed=8),
    "states": Specification(envs.GridWorld("S..\n..G"), ImitationConfig(), 80, stride=3, seed=4),
    "player": Specification(envs.RiverSwim(4), PLAYED_BY_CFPO, 40, stride=3, seed=5),
    "pairs": Specification(envs.LowerK(), SHOWN_PAIRS, 50, stride=1, seed=7),
    "certified": Specification(
        envs.RiverSwim(4), Prover.Config(), 300, stride=3, seed=2, certify=0.1
    ),
}


@pytest.fixture(params=RUNS)
def spec(request):
    """The specification of a run."""
    return RUNS[request.param]


@pytest.fixture(scope="session")
def specs():
    return RUNS


def results(folder):
    """The bytes of what a run has come to, by name; nothing is left lying about."""
    assert not list(folder.glob("*.part"))
    names = {path.name for path in folder.iterdir()}.difference(("lock", "environment.json"))
    return {name: (folder / name).read_bytes() for name in sorted(names)}


@pytest.fixture(scope="session")
def bytes_of():
    return results


@pytest.fixture(scope="session")
def run_folders():
    """The folders of the runs of a study in a folder."""
    return lambda study, out: [StudyFolder(out).of(r).path for r in study.runs]


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """The bytes of a run that nobody disturbed."""
    known = {}

    def carried_out(spec):
        if spec.id not in known:
            folder = tmp_path_factory.mktemp("whole") / spec.id
            assert execute(Task(spec, str(folder))).state == "finished"
            known[spec.id] = results(folder)
        return known[spec.id]

    return carried_out


@pytest.fixture
def hasty_disk(monkeypatch):
    """Files are not waited for: what a killed process has written, the system still has."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


STARTER = """
import gc, json, os, pathlib, signal, sys, tempfile, time, traceback
from optimist import Psrl, Rlsvi, Rmax, envs
from optimist.experiments import Specification
from optimist.experiments.execute import Task, execute
from optimist.experiments.learners import ImitationConfig
from optimist.imitation import Box

sys.path.insert(0, sys.argv[1])
import reference.own  # classes of one's own, which a worker has imported

os.fsync = lambda handle: None
with tempfile.TemporaryDirectory() as folder:  # compiles and imports what the runs will need
    for agent in (Rmax, Psrl, Rlsvi):
        first = Specification(envs.RiverSwim(2), agent.Config(), episodes=1, stride=1, seed=0)
        execute(Task(first, f"{folder}/{agent.__name__}"))
    first = Specification(envs.Gym("FrozenLake-v1"), Rmax.Config(), episodes=1, stride=1, seed=0)
    execute(Task(first, folder + "/played"))
gc.freeze()


def kill_at(moment, folder):
    count = 0

    def heard(event, arguments):
        nonlocal count
        writes = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if writes or event in ("os.rename", "os.remove", "os.mkdir"):
            count += str(arguments[0]).startswith(folder)
            if count == moment:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(heard)


for line in sys.stdin:
    order, begin = json.loads(line), time.monotonic()
    end = begin + (order["after"] or 3600)
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if order["at"]:
                kill_at(order["at"], order["task"][1])
            data, *rest = order["task"]
            study = pathlib.Path(rest[0]).parent.parent
            outcome = execute(Task(Specification.from_plain(data, study), *rest))
        except BaseException:
            outcome = ["failed", traceback.format_exc()]
        os.write(theirs, json.dumps(outcome).encode())
        os._exit(0)
    os.close(theirs)
    while not os.waitpid(pid, os.WNOHANG)[0]:
        if time.monotonic() >= end:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)
    seconds = time.monotonic() - begin
    with os.fdopen(ours) as said:
        state, message = json.loads(said.read() or '["killed", ""]')
    print(json.dumps({"state": state, "message": message, "seconds": seconds}), flush=True)
"""


@pytest.fixture(scope="session")
def start():
    """Carry out a run in a process of its own, with a checkpoint at every mark, and kill it.

    It is killed ``after`` some seconds, or just before the change of its folder number ``at``. The
    process that starts it has imported and compiled all that it needs.
    """
    if sys.platform != "linux":
        pytest.skip("processes as on Linux")
    with subprocess.Popen(
        [sys.executable, "-c", STARTER, str(Path(__file__).parents[1])],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as starter:

        def carry_out(spec, folder, after=None, at=None):
            order = {"task": [spec.plain, str(folder), 0.0], "after": after, "at": at}
            print(json.dumps(order), file=starter.stdin, flush=True)
            return SimpleNamespace(**json.loads(starter.stdout.readline()))

        yield carry_out
        starter.stdin.close()


@pytest.fixture(scope="session")
def optimist():
    """The command line, in a process of its own."""

    def command(*arguments, **options):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        words = [sys.executable, "-m", "optimist", *map(str, arguments)]
        return subprocess.Popen(words, **pipes, **options)

    return command


@pytest.fixture(scope="session")
def complaints():
    """What a command said on its error output, but for how far it was at every full minute."""

    def lines(errors):
        return [line for line in errors.splitlines() if not re.match(r"\d+/\d+ runs, ", line)]

    return lines
