"""The executors: same outcomes on all of them, whatever items and workers do."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import cloudpickle
import numpy as np
import psutil
import pytest
from threadpoolctl import threadpool_info

from optimist.experiments.execute import Task, execute
from optimist.experiments.executors import Executor, Failure, open_executor
from optimist.experiments.workers import WorkerPool

# Workers cannot import this module: what is defined here is sent to them.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

BIN = Path(sys.executable).parent

FOREVER = 3600  # seconds: an item that would take so long has to be stopped
PATIENCE = 600  # seconds: no machine is so busy that it takes longer


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


def wait_until(condition):
    """Wait for what other processes do."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.02)


def text_of(path):
    """The text of a file that another process is about to write."""
    wait_until(lambda: path.exists() and path.read_text())
    return path.read_text()


LOCAL = ["--host", "127.0.0.1", "--no-dashboard"]


@contextmanager
def dask_scheduler(folder):
    file = folder / "scheduler.json"
    with started(
        *(BIN / "dask", "scheduler", *LOCAL, "--port", 0, "--scheduler-file", file),
        DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0",
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
def executor(request, tmp_path_factory):
    name, address = request.param, None
    with ExitStack() as stack:
        if name == "dask":
            address = stack.enter_context(dask_cluster(tmp_path_factory.mktemp("dask")))
        if name == "ray":
            folder = request.getfixturevalue("ray_environment")
            address = stack.enter_context(ray_cluster(folder))
        yield stack.enter_context(open_executor(name, None if address else 2, address))


def on(*names):
    return pytest.mark.parametrize("executor", names, indirect=True)


with_workers = on("ray", "dask", "joblib")
everywhere = on("ray", "dask", "joblib", "serial")


@everywhere
def test_a_run_gives_the_same_bytes_on_every_executor(executor, specs, whole, bytes_of, tmp_path):
    folders = {spec.id: tmp_path / spec.id for spec in specs.values()}
    tasks = [Task(spec, str(folders[spec.id])) for spec in specs.values()]
    assert [outcome.state for _, outcome in executor.map(execute, tasks)] == ["finished"] * len(
        tasks
    )
    for spec in specs.values():
        assert bytes_of(folders[spec.id]) == whole(spec)


def inverse(number):
    if number == 0:
        raise ZeroDivisionError("no\ninverse")
    return 1 / number


@everywhere
def test_an_exception_is_an_outcome(executor):
    assert list(executor.map(abs, [])) == []
    outcomes = dict(executor.map(inverse, [2, 0, 4]))
    failure = outcomes.pop(1)
    assert outcomes == {0: 0.5, 2: 0.25}
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.message) == ("error", "ZeroDivisionError: no inverse")
    assert "in inverse\n" in failure.details
    assert "attempt" not in failure.details


@everywhere
def test_one_blas_thread(executor):
    ((_, libraries),) = executor.map(lambda _: threadpool_info(), [None])
    assert libraries
    assert {library["num_threads"] for library in libraries} == {1}


class Unloadable:
    def __reduce__(self):
        return {}.__getitem__, ("lost on the way",)


@with_workers
def test_what_cannot_be_pickled(executor):
    """An item, a result; one that can be pickled but not loaded again; and `sys.exit`."""
    items = [threading.Lock, int, sys.exit, threading.Lock(), Unloadable, Unloadable()]
    outcomes = dict(executor.map(lambda make: make(), items))
    assert outcomes.pop(1) == 0
    assert {o.kind for o in outcomes.values()} == {"error"}
    messages = [outcomes[index].message.split("'")[0] for index in sorted(outcomes)]
    unpicklable, unloadable = "TypeError: cannot pickle ", "KeyError: "
    assert messages == [unpicklable, "SystemExit", unpicklable, unloadable, unloadable]


@with_workers
def test_large_items(executor):
    large = [np.full(10**6, index) for index in range(3)]
    outcomes = dict(executor.map(np.negative, large))
    for index, item in enumerate(large):
        np.testing.assert_array_equal(outcomes[index], -item)


class Marks:
    """Files that say what has happened, in whatever process."""

    def __init__(self, folder):
        self.folder = folder

    def make(self, name):
        tempfile.NamedTemporaryFile(prefix=f"{name}-", dir=self.folder, delete=False).close()

    def count(self, name):
        return len(list(self.folder.glob(f"{name}-*")))

    def wait_for(self, name):
        wait_until(lambda: self.count(name))


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
def test_a_killed_worker_costs_one_attempt_at_one_item(executor, tmp_path):
    marks = Marks(tmp_path)
    outcomes = dict(executor.map(killed_once, [(index, marks) for index in range(4)]))
    assert outcomes == {index: index for index in range(4)}
    assert [marks.count(f"start{index}") for index in range(4)] == [2, 1, 1, 1]


def always_killed(task):
    index, marks = task
    marks.make(f"start{index}")
    if index == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return index


@with_workers
def test_an_item_that_always_kills_is_lost(executor, tmp_path):
    marks = Marks(tmp_path)
    outcomes = dict(executor.map(always_killed, [(index, marks) for index in range(8)]))
    failure = outcomes.pop(1)
    assert (failure.kind, "\n" in failure.message) == ("lost", False)
    assert outcomes == {index: index for index in range(8) if index != 1}
    assert marks.count("start1") == 3


class OneWorkerForAll(list):
    """A queue whose worker computes all that is under way at once, and dies of odd numbers."""

    def pool(self):
        return WorkerPool(self.submit, None, lambda: 2, (ChildProcessError,), queue=lambda: self)

    def submit(self, packed):
        self.append((future := Future(), cloudpickle.loads(packed)[1]))
        return future

    def put(self, future):
        pass

    def get(self, timeout):
        if not hasattr(self, "ended") or not self.ended:
            self.ended, dies = [future for future, _ in self], any(item % 2 for _, item in self)
            for future, item in self:
                if dies:
                    future.set_exception(ChildProcessError())
                else:
                    future.set_result(cloudpickle.dumps(item))
            self.clear()
        return self.ended.pop()


def test_items_that_die_with_another_are_not_lost():
    outcomes = dict(Executor(OneWorkerForAll().pool()).map(abs, [0, 1, 2, 4, 6, 8, 3]))
    lost = [outcomes.pop(index).kind for index in (1, 6)]
    assert lost == ["lost", "lost"]
    assert outcomes == {0: 0, 2: 2, 3: 4, 4: 6, 5: 8}


def slow(task):
    seconds, folder = task
    if seconds:
        (folder / str(os.getpid())).touch()
        time.sleep(seconds)


@with_workers
def test_stopping_early(executor, tmp_path):
    """Closing the iterator stops what is under way, and the executor goes on."""
    outcomes = executor.map(slow, [(seconds, tmp_path) for seconds in (0, FOREVER, FOREVER)])
    next(outcomes)
    wait_until(lambda: list(tmp_path.iterdir()))
    under_way = [int(file.name) for file in tmp_path.iterdir()]
    outcomes.close()
    assert sorted(executor.map(abs, [-1, -2])) == [(0, 1), (1, 2)]
    wait_until(lambda: not any(psutil.pid_exists(pid) for pid in under_way))


def test_serial_is_lazy():
    done = []
    with open_executor("serial") as executor:
        outcomes = executor.map(done.append, "ab")
        assert done == []
        next(outcomes)
        assert done == ["a"]


def children():
    """The worker processes of this process."""
    return [c for c in psutil.Process().children() if "popen_loky" in " ".join(c.cmdline())]


def test_workers_stay_until_the_block_is_left():
    """As many as there are items; one that died with nothing to do is replaced."""
    before = children()
    with open_executor("joblib", jobs=2) as executor:
        assert list(executor.map(abs, [-1])) == [(0, 1)]
        assert len(children()) == len(before) + 1
        for _ in range(2):
            pids = {pid for _, pid in executor.map(lambda _: os.getpid(), "abcd")}
            assert pids == {c.pid for c in children()} - {c.pid for c in before}
        psutil.Process(pids.pop()).kill()
        assert sorted(executor.map(abs, [-1, -2])) == [(0, 1), (1, 2)]
        outcomes = executor.map(time.sleep, [0, FOREVER, FOREVER])
        assert next(outcomes) == (0, None)
        with pytest.raises(RuntimeError, match="one map at a time"):
            next(executor.map(abs, [1]))
    assert children() == before
    for late in (outcomes, executor.map(abs, [1])):
        with pytest.raises(RuntimeError, match="inside the executor's `with` block"):
            next(late)


SCRIPT = """
import signal, sys, time
from optimist.experiments.executors import open_executor

def nap(seconds):  # workers cannot import this script
    time.sleep(seconds)

if __name__ == "__main__":
    # As in a terminal: tests that run in the background of a shell are told to ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with open_executor(sys.argv[1], jobs=2) as executor:
        for _ in executor.map(nap, [0, *map(int, sys.argv[2:])]):
            print("done", flush=True)
        time.sleep(3600)
"""


@contextmanager
def script(folder, name, seconds=FOREVER):
    """Items under way in a process group of its own, as if started in a terminal."""
    (folder / "script.py").write_text(SCRIPT)
    with subprocess.Popen(
        [sys.executable, folder / "script.py", name, *[str(seconds)] * 3],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        workers = []
        try:
            for _ in range(1 if seconds else 4):
                assert process.stdout.readline() == "done\n"
            workers = psutil.Process(process.pid).children(recursive=True)
            assert len(workers) >= 2
            yield process
            assert not psutil.wait_procs(workers, timeout=PATIENCE)[1]
        finally:
            for one in (process, *(w for w in workers if w.is_running())):
                one.kill()


@pytest.mark.parametrize("name", ["joblib", "dask", "ray"])
@pytest.mark.usefixtures("ray_environment")
def test_an_interruption_leaves_no_process_behind(name, tmp_path):
    with script(tmp_path, name) as process:
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    assert errors.splitlines()[-1] == "KeyboardInterrupt"


@pytest.mark.parametrize(
    ("name", "seconds"), [("joblib", FOREVER), ("dask", FOREVER), ("joblib", 0)]
)
def test_workers_end_when_their_parent_is_killed(name, seconds, tmp_path):
    """In the middle of items, or with nothing to do."""
    with script(tmp_path, name, seconds) as process:
        process.kill()


@on("ray")
def test_a_ray_of_the_caller_stays(executor):
    import ray

    with open_executor("ray") as another:
        assert list(another.map(abs, [-1])) == [(0, 1)]
    assert list(executor.map(abs, [-2])) == [(0, 2)]
    present = ray.get_runtime_context().gcs_address
    with open_executor("ray", address=present):
        pass
    with (
        pytest.raises(ValueError, match=r"initialised at '[0-9.:]+'"),
        open_executor("ray", address="10.0.0.1:6379"),
    ):
        pass
    assert ray.is_initialized()


def test_refusals(monkeypatch):
    monkeypatch.setattr("ray.is_initialized", lambda: False)  # it may be, for another test
    for name, jobs, address, error, message in [
        ("spark", None, None, ValueError, "one of serial, joblib, dask, ray; got 'spark'"),
        ("joblib", 0, None, ValueError, "jobs must be at least 1; got 0"),
        ("joblib", None, "10.0.0.1:8786", ValueError, "is for 'dask' or 'ray'"),
        ("dask", 2, "10.0.0.1:8786", ValueError, "sets the number of jobs"),
        ("dask", None, "here", ValueError, "'here' is not the address of a Dask scheduler"),
        ("dask", None, "127.0.0.1:1", ConnectionError, r"no .* answers at '127.0.0.1:1'"),
        ("ray", None, "127.0.0.1:1", ConnectionError, r"no .* answers at '127.0.0.1:1'"),
    ]:
        with pytest.raises(error, match=message), open_executor(name, jobs, address):
            pass
    for name, package in [("dask", "distributed"), ("ray", "ray")]:
        monkeypatch.setitem(sys.modules, package, None)
        missing = pytest.raises(ImportError, match=rf"pip install 'optimist\[{name}\]'")
        with missing, open_executor(name):
            pass


def test_the_scheduler_is_gone(tmp_path):
    with (
        dask_scheduler(tmp_path) as (process, address),
        open_executor("dask", None, address) as executor,
    ):
        threading.Timer(0.5, process.kill).start()
        with pytest.raises(ConnectionError, match="connection to the workers was lost"):
            list(executor.map(abs, [1, 2]))


def test_another_cluster_has_dasks_port():
    with ExitStack() as stack:
        with suppress(OSError):  # somebody else has it: just as well
            stack.enter_context(socket.create_server(("", 8787)))
        with open_executor("dask", 1) as executor:
            assert [result for _, result in executor.map(abs, [-1])] == [1]
