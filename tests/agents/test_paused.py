"""A function that waits in its thread until it is to go on."""

import threading

import pytest

from optimist.agents.paused import Paused


def test_it_runs_only_while_it_is_resumed():
    seen = []

    def count(pause):
        for n in range(2):
            seen.append(n)
            pause()
        seen.append("end")

    counting = Paused(count)
    assert seen == []
    assert counting.resume()
    assert seen == [0]
    assert counting.resume()
    assert not counting.resume()
    assert seen == [0, 1, "end"]
    assert not counting.resume()  # however often


def test_its_errors_are_raised_where_it_was_resumed():
    def fail(pause):
        pause()
        raise KeyError("lost")

    failing = Paused(fail)
    failing.resume()
    for _ in range(2):
        with pytest.raises(KeyError, match="lost"):
            failing.resume()


@pytest.mark.parametrize("resumed", [0, 1])
def test_it_is_ended_where_it_waits(resumed):
    ended = threading.Event()

    def wait_for_ever(pause):
        try:
            while True:
                pause()
        finally:
            ended.set()

    before = threading.active_count()
    waiting = Paused(wait_for_ever)
    for _ in range(resumed):
        waiting.resume()
    threads = [t for t in threading.enumerate() if t.daemon]
    waiting.close()
    for thread in threads[-1:]:
        thread.join(10)
    assert threading.active_count() == before
    assert ended.is_set() == bool(resumed)
