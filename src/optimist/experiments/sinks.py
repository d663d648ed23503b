"""Other places to write curves to, besides the folder of the study."""

from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import quote

from optimist.errors import FileError
from optimist.experiments.curves import Curves, read_curves
from optimist.experiments.measures import track_of
from optimist.experiments.study import Run
from optimist.experiments.study_folder import StudyFolder

SHOWN = (
    *("suboptimality", "regret", "value", "return"),
    *("optimistic_value", "bonus", "ascension"),
)
"""The columns that are written, if a run has them."""

FLUSH_SECONDS = 2
"""Points are seen in TensorBoard after at most this time."""


class TensorBoard:
    """Writes the curves of runs to a folder for TensorBoard, while they go on.

    Each point is written once, also if the study is stopped and resumed. Needs tensorboardX:
    ``pip install 'optimist[tensorboard]'``.
    """

    def __init__(self, folder: str | Path) -> None:
        try:
            import tensorboardX
        except ImportError:
            raise ImportError(
                "tensorboardX is not installed: pip install 'optimist[tensorboard]'"
            ) from None
        self._folder = Path(folder)
        self._writer = tensorboardX.SummaryWriter
        self._open: dict[str, tuple[Any, dict[str, int]]] = {}  # writers, and what was written
        self._read: dict[str, int] = {}  # when the checkpoints were written that were read last
        self._lock = Lock()  # runs are followed by one thread, and finished by another

    def __call__(self, run: Run, folder: StudyFolder) -> None:
        """Write what is new of a run that has finished."""
        with self._lock:
            self._write(run, folder.of(run).curves)
            self._open.pop(run.spec.id)[0].close()

    def follow(self, run: Run, folder: StudyFolder) -> None:
        """Write what is new in the last checkpoint of a run."""
        with self._lock:
            try:
                file = folder.of(run).file("checkpoint.parquet")
                written = file.stat().st_mtime_ns
                if self._read.get(run.spec.id) == written or folder.of(run).finished:
                    return
                curves = read_curves(file, run.spec.id)
            except (FileError, FileNotFoundError):  # no checkpoint yet, or it has finished
                return
            self._read[run.spec.id] = written
            track = track_of(run.spec.world, run.spec.steps)
            self._write(run, track.completed(curves))

    def close(self) -> None:
        """Close the files of all runs; more can be written later."""
        with self._lock:
            for writer, _ in self._open.values():
                writer.close()
            self._open.clear()

    def _write(self, run: Run, curves: Curves) -> None:
        if run.spec.id not in self._open:
            # Escape names: each is one folder below this one, even a name such as "..".
            names = (quote(n, safe=" ,").replace(".", "%2E") for n in (run.world, run.agent))
            target = self._folder.joinpath(*names, f"seed {run.index}")
            before = list(target.glob(f"events.*.{run.spec.id}.*"))
            writer = self._writer(
                str(target),
                flush_secs=FLUSH_SECONDS,
                filename_suffix=f".{run.spec.id}.{len(before)}",
            )
            self._open[run.spec.id] = writer, last_steps(before)
        writer, last = self._open[run.spec.id]
        at = curves[track_of(run.spec.world, run.spec.steps).column]
        for column in (c for c in SHOWN if c in curves):
            new = at > last.get(column, 0)
            for point, value in zip(at[new], curves[column][new], strict=True):
                writer.add_scalar(column, float(value), int(point))
                last[column] = int(point)


def last_steps(files: Iterable[Path]) -> dict[str, int]:
    """The last step of each tag in files for TensorBoard."""
    from tensorboardX.proto.event_pb2 import Event

    last: dict[str, int] = {}
    for file in files:
        data, at = file.read_bytes(), 0
        while at + 16 <= len(data):  # records: length, checksum, event, checksum
            end = at + 12 + int.from_bytes(data[at : at + 8], "little")
            if end + 4 > len(data):  # cut short when the process was killed
                break
            event = Event.FromString(data[at + 12 : end])
            last |= {v.tag: max(event.step, last.get(v.tag, 0)) for v in event.summary.value}
            at = end + 4
    return last
