"""The engines: same outcomes on all of them, whatever items and workers do."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import cloudpickle
import numpy as np
import psutil
import pytest
from threadpoolctl import threadpool_info

from optimist.experiments.engines import Failure, open_engine
from optimist.experiments.execute import Task, execute

# Workers cannot import this module: what is defined here is sent to them.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

BIN = Path(sys.executable).parent


# Clusters, as an administrator would start them: processes that are found by their address.


@contextmanager
def started(*command, **environment):
    process = subprocess.Popen(
        [str(part) for part in command],
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def text_of(path, seconds=600):
    """The text of a file that another process is about to write."""
    deadline = time.monotonic() + seconds
    while not path.exists() or not path.read_text():
        assert time.monotonic() < deadline, f"{path} is not there after {seconds} seconds"
        time.sleep(0.05)
    return path.read_text()


LOCAL = ["--host", "127.0.0.1", "--no-dashboard"]


@contextmanager
def dask_scheduler(folder):
    file = folder / "scheduler.json"
    with started(
        *(BIN / "dask", "scheduler", *LOCAL, "--port", 0, "--scheduler-file", file),
        DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="2",
    ) as process:
        yield process, json.loads(text_of(file))["address"]


@contextmanager
def dask_cluster(folder):
    workers = ["--nworkers", 2, "--nthreads", 1, "--local-directory", folder]
    with (
        dask_scheduler(folder) as (_, address),
        started(BIN / "dask", "worker", address, *LOCAL, *workers),
    ):
        yield address


@contextmanager
def ray_cluster(folder):
    with started(
        *(BIN / "ray", "start", "--head", "--block", "--port=0", "--num-cpus=2"),
        *("--include-dashboard=false", "--disable-usage-stats", f"--temp-dir={folder}"),
    ):
        yield text_of(folder / "ray_current_cluster")


@pytest.fixture(scope="module")
def ray_environment():
    """Ray's own token and folder; the paths of its sockets have to be short."""
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        patch.setenv("RAY_TMPDIR", folder)
        yield Path(folder)
    shutil.rmtree(folder)


@contextmanager
def opened(name, request):
    with ExitStack() as stack:
        address = None
        if name == "dask":
            folder = request.getfixturevalue("tmp_path_factory").mktemp("dask")
            address = stack.enter_context(dask_cluster(folder))
        if name == "ray":
            folder = request.getfixturevalue("ray_environment")
            address = stack.enter_context(ray_cluster(folder))
        jobs = 2 if address is None else None
        yield stack.enter_context(open_engine(name, jobs, address))


@pytest.fixture(scope="module")
def engine(request):
    with opened(request.param, request) as engine:
        yield engine


def on(*names):
    return pytest.mark.parametrize("engine", names, indirect=True)


with_workers = on("ray", "dask", "joblib")
everywhere = on("ray", "dask", "joblib", "serial")


def solved(seed):
    rng = np.random.default_rng(seed)
    return np.linalg.solve(rng.normal(size=(50, 50)), rng.normal(size=50))


@everywhere
def test_same_results(engine):
    outcomes = dict(engine.map(solved, range(6)))
    assert sorted(outcomes) == list(range(6))
    for seed in range(6):
        np.testing.assert_array_equal(outcomes[seed], solved(seed))


@everywhere
def test_a_run_gives_the_same_bytes_on_every_engine(engine, specs, whole, bytes_of, tmp_path):
    folders = {spec.id: tmp_path / spec.id for spec in specs.values()}
    tasks = [Task(spec.plain, str(folders[spec.id])) for spec in specs.values()]
    assert [outcome.state for _, outcome in engine.map(execute, tasks)] == ["finished"] * len(tasks)
    for spec in specs.values():
        assert bytes_of(folders[spec.id]) == whole(spec)


@everywhere
def test_no_items(engine):
    assert list(engine.map(abs, [])) == []


def inverse(number):
    if number == 0:
        raise ZeroDivisionError("no\ninverse")
    return 1 / number


@everywhere
def test_an_exception_is_an_outcome(engine):
    outcomes = dict(engine.map(inverse, [2, 0, 4]))
    failure = outcomes.pop(1)
    assert outcomes == {0: 0.5, 2: 0.25}
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.message) == ("error", "ZeroDivisionError: no inverse")
    assert "in inverse\n" in failure.details
    assert "attempt" not in failure.details


@everywhere
def test_one_blas_thread(engine):
    ((_, libraries),) = engine.map(lambda _: threadpool_info(), [None])
    assert libraries
    assert {library["num_threads"] for library in libraries} == {1}


@with_workers
def test_what_cannot_be_sent_back(engine):
    outcomes = dict(engine.map(lambda make: make(), [threading.Lock, int, sys.exit]))
    assert outcomes.pop(1) == 0
    assert [o.kind for o in outcomes.values()] == ["error", "error"]
    assert {o.message.split(":")[0] for o in outcomes.values()} == {"TypeError", "SystemExit"}


@with_workers
def test_what_cannot_be_sent(engine):
    with pytest.raises(TypeError, match="cannot pickle"):
        list(engine.map(abs, [1, threading.Lock()]))


class Marks:
    """Files that say what has happened, in whatever process."""

    def __init__(self, folder):
        self.folder = folder

    def make(self, name):
        tempfile.NamedTemporaryFile(prefix=f"{name}-", dir=self.folder, delete=False).close()

    def count(self, name):
        return len(list(self.folder.glob(f"{name}-*")))

    def wait_for(self, name):
        deadline = time.monotonic() + 300
        while not self.count(name) and time.monotonic() < deadline:
            time.sleep(0.01)


def killed_once(task):
    """The first item kills its worker at its first attempt, while the second is under way."""
    index, marks = task
    marks.make(f"start{index}")
    if index == 0 and marks.count("start0") == 1:
        marks.wait_for("start1")
        marks.make("kill")
        os.kill(os.getpid(), signal.SIGKILL)
    if index == 1:
        marks.wait_for("kill")
        time.sleep(0.5)
    return index


@with_workers
def test_a_killed_worker_costs_one_attempt_at_one_item(engine, tmp_path):
    marks = Marks(tmp_path)
    outcomes = dict(engine.map(killed_once, [(index, marks) for index in range(4)]))
    assert outcomes == {index: index for index in range(4)}
    assert [marks.count(f"start{index}") for index in range(4)] == [2, 1, 1, 1]


def always_killed(task):
    index, marks = task
    marks.make(f"start{index}")
    if index == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return index


@with_workers
def test_an_item_that_always_kills_is_lost(engine, tmp_path):
    marks = Marks(tmp_path)
    outcomes = dict(engine.map(always_killed, [(index, marks) for index in range(8)]))
    failure = outcomes.pop(1)
    assert (failure.kind, "\n" in failure.message) == ("lost", False)
    assert outcomes == {index: index for index in range(8) if index != 1}
    assert marks.count("start1") == 3


def slow(task):
    seconds, folder = task
    if seconds:
        (folder / str(os.getpid())).touch()
        time.sleep(seconds)


@with_workers
def test_stopping_early(engine, tmp_path):
    """Closing the iterator stops what is under way at once, and the engine goes on."""
    outcomes = engine.map(slow, [(0, tmp_path), (120, tmp_path), (120, tmp_path)])
    next(outcomes)
    while not (under_way := [int(file.name) for file in tmp_path.iterdir()]):
        time.sleep(0.05)
    begin = time.monotonic()
    outcomes.close()
    assert sorted(engine.map(abs, [-1, -2])) == [(0, 1), (1, 2)]
    while any(psutil.pid_exists(pid) for pid in under_way):
        time.sleep(0.05)
    assert time.monotonic() - begin < 60


def test_serial_is_lazy():
    done = []
    with open_engine("serial") as engine:
        outcomes = engine.map(done.append, "ab")
        assert done == []
        next(outcomes)
        assert done == ["a"]


def children():
    """The worker processes of this process."""
    return [c for c in psutil.Process().children() if "popen_loky" in " ".join(c.cmdline())]


def test_no_more_workers_than_items_and_they_stay():
    before = children()
    with open_engine("joblib", jobs=2) as engine:
        assert list(engine.map(abs, [-1])) == [(0, 1)]
        assert len(children()) == len(before) + 1
        for _ in range(2):
            pids = {pid for _, pid in engine.map(lambda _: time.sleep(0.1) or os.getpid(), "abcd")}
            assert pids == {c.pid for c in children()} - {c.pid for c in before}
    assert children() == before


@with_workers
def test_large_items(engine):
    large = [np.full(10**6, index) for index in range(3)]
    for index, outcome in engine.map(np.negative, large):
        np.testing.assert_array_equal(outcome, -large[index])


def test_leaving_the_block_stops_the_workers():
    before = children()
    begin = time.monotonic()
    with open_engine("joblib", jobs=2) as engine:
        outcomes = engine.map(time.sleep, [0, 120, 120])
        next(outcomes)
    assert children() == before
    assert time.monotonic() - begin < 60
    with pytest.raises(RuntimeError, match="inside its `with` block"):
        next(outcomes)
    with pytest.raises(RuntimeError, match="inside its `with` block"):
        next(engine.map(abs, [1]))


SCRIPT = """
import signal, sys, time
from optimist.experiments.engines import open_engine

if __name__ == "__main__":
    # As in a terminal: tests that run in the background of a shell are told to ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with open_engine(sys.argv[1], jobs=2) as engine:
        for _ in engine.map(time.sleep, {items}):
            print("begun", flush=True)
        {last}
"""


@contextmanager
def script(name, folder, items="[0, 120, 120, 120]", last=""):
    """A study under way in a process group of its own, as if started in a terminal."""
    (folder / "script.py").write_text(SCRIPT.format(items=items, last=last))
    with subprocess.Popen(
        [sys.executable, "script.py", name],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout.readline() == "begun\n"
            processes = psutil.Process(process.pid).children(recursive=True)
            assert len(processes) >= 2
            yield process
            assert not psutil.wait_procs(processes, timeout=100)[1]
        finally:
            process.kill()


@pytest.mark.parametrize("name", ["joblib", "dask", "ray"])
def test_an_interruption_leaves_no_process_behind(name, tmp_path, ray_environment):
    with script(name, tmp_path) as process:
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=600)
    assert errors.splitlines()[-1] == "KeyboardInterrupt"


def test_idle_workers_end_when_their_parent_is_killed(tmp_path):
    with script("joblib", tmp_path, items="[0, 0, 0]", last="time.sleep(60)") as process:
        process.kill()


@pytest.mark.parametrize("name", ["joblib", "dask"])
def test_workers_end_when_their_parent_is_killed(name, tmp_path):
    """In the middle of items that would take two minutes."""
    with script(name, tmp_path) as process:
        process.kill()


@on("ray")
def test_a_ray_of_the_caller_stays(engine):
    import ray

    with open_engine("ray") as another:
        assert list(another.map(abs, [-1])) == [(0, 1)]
    assert list(engine.map(abs, [-2])) == [(0, 2)]
    present = ray.get_runtime_context().gcs_address
    with open_engine("ray", address=present):
        pass
    with (
        pytest.raises(ValueError, match=r"already initialised, at '[0-9.:]+'"),
        open_engine("ray", address="10.0.0.1:6379"),
    ):
        pass
    assert ray.is_initialized()


@pytest.mark.parametrize(
    ("name", "jobs", "address", "message"),
    [
        ("jobilb", None, None, "did you mean 'joblib'"),
        ("spark", None, None, "there is no engine 'spark', but serial, joblib, dask, ray"),
        ("joblib", 0, None, "jobs = 0 must be at least 1"),
        ("joblib", None, "10.0.0.1:8786", "is for 'dask' or 'ray'"),
        ("dask", 2, "10.0.0.1:8786", "has workers of its own"),
        ("dask", None, "here", "'here' is not the address of a Dask scheduler"),
    ],
)
def test_refusals(name, jobs, address, message):
    with pytest.raises(ValueError, match=message), open_engine(name, jobs, address):
        pass


@pytest.mark.parametrize("name", ["dask", "ray"])
def test_nobody_answers(name, monkeypatch):
    monkeypatch.setattr("ray.is_initialized", lambda: False)  # it may be, for another test
    with (
        pytest.raises(ConnectionError, match=r"answers at '127.0.0.1:1': is it running there\?"),
        open_engine(name, address="127.0.0.1:1"),
    ):
        pass


def test_the_scheduler_is_gone(tmp_path):
    with (
        dask_scheduler(tmp_path) as (process, address),
        open_engine("dask", None, address) as engine,
    ):
        threading.Timer(0.5, process.kill).start()
        with pytest.raises(ConnectionError, match="connection to the Dask scheduler was lost"):
            list(engine.map(abs, [1, 2]))


@pytest.mark.parametrize(("name", "package"), [("dask", "distributed"), ("ray", "ray")])
def test_a_missing_package(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"pip install 'optimist\[{name}\]'"), open_engine(name):
        pass
