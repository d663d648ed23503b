"""A checkpoint is replaced at once or not at all."""

import errno
import os
import subprocess
import sys
from functools import partial

import pytest

from optimist.agents import VariantAgent
from optimist.agents.checkpoint import FILE
from optimist.core import storage

KILLED = """
import os, random, signal, sys, time
from optimist import RmaxRaviUcb, envs
from optimist.agents.checkpoint import FILE

folder, kills = sys.argv[1], 20
path = os.path.join(folder, FILE)
world = envs.RandomLinear(40, 50, 4)
random.seed(1)
reference = RmaxRaviUcb(world, stride=5)
agent = RmaxRaviUcb(world, stride=5)
agent.learn(1)
agent.save(folder)
for _ in range(kills):
    before, file = agent.episodes, os.stat(path).st_ino
    child = os.fork()
    if child == 0:
        while True:
            agent.learn(1)
            agent.save(folder)
    while os.stat(path).st_ino == file:  # until it has saved once
        time.sleep(0.001)
    time.sleep(random.uniform(0, 0.03))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    agent = RmaxRaviUcb.load(folder, world)
    assert agent.episodes > before
    if agent.episodes > reference.episodes:
        reference.learn(agent.episodes - reference.episodes)
    reference.save(folder + "/reference")
    with open(path, "rb") as one, open(folder + "/reference/" + FILE, "rb") as other:
        assert one.read() == other.read()
print(agent.episodes)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills children")
def test_a_kill_at_any_instant_leaves_the_last_whole_checkpoint(tmp_path):
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20


@pytest.fixture
def agent(settings, make):
    """A learner in a world with a dense covariance."""
    return make(settings["dense"](), episodes=20)


def failing(error):
    def call(*arguments, **options):
        raise error

    return call


def names(folder):
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize(
    "error",
    [OSError(errno.ENOSPC, "full"), PermissionError(errno.EACCES, "denied"), KeyboardInterrupt()],
)
def test_a_save_that_fails_leaves_the_old_file(
    agent, same, state_of, call, error, tmp_path, monkeypatch
):
    agent.save(tmp_path)
    old, data = state_of(agent), (tmp_path / FILE).read_bytes()
    agent.learn(20)
    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing(error))
        with pytest.raises(type(error)):
            agent.save(tmp_path)
        with pytest.raises(type(error)):
            agent.policy.save(tmp_path / "policy")
    assert names(tmp_path) == [FILE]
    assert (tmp_path / FILE).read_bytes() == data
    load = partial(VariantAgent.load, tmp_path, agent.mdp, agent.features)
    assert state_of(load()) == old
    agent.save(tmp_path)
    same(load(), agent)


def test_the_numbers_are_on_disk_before_the_name_is(agent, tmp_path, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        usual = getattr(os, name)

        def noted(*arguments, name=name, usual=usual):
            calls.append(name)
            return usual(*arguments)

        monkeypatch.setattr(os, name, noted)
    agent.save(tmp_path)
    assert calls[:2] == ["fsync", "replace"]


def test_a_folder_that_cannot_be_made(agent, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        agent.save(tmp_path / "file")
    with pytest.raises(OSError, match="file"):
        agent.save(tmp_path / "file" / "folder")


def test_a_missing_folder_is_named_and_not_the_temporary_file(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        storage.write_bytes(tmp_path / "nowhere" / "policy", b"1")
    assert caught.value.filename == str(tmp_path / "nowhere")
