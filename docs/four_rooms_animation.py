"""Draw docs/four-rooms.gif: optimism in FourRooms, seen as it recedes.

Run it with ``make figure``.
"""

from pathlib import Path

import optimist as opt
from optimist.live.recording import record


def main() -> None:
    """First heaven everywhere, then paths to where it is left, then the way to the goal."""
    feed = opt.live.Feed(steady=True)
    opt.Optimist(opt.envs.FourRooms(), seed=0).learn(500, live=feed, show_progress=False)
    record(feed, Path(__file__).with_name("four-rooms.gif"))


if __name__ == "__main__":
    main()
