"""``optimist watch``: show a study that another process runs."""

from optimist.cli import OK
from optimist.cli.flags import Watch
from optimist.cli.live import linger, opened
from optimist.cli.parts import import_modules


def main(given: Watch) -> int:
    import_modules(given.imports)
    from optimist import live

    with opened(live.StudySource(given.folder), given.host):
        linger()
    return OK
