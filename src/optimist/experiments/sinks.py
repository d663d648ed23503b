"""Where curves can go besides the folder of the study."""

from pathlib import Path
from urllib.parse import quote

from optimist.experiments.study import Run
from optimist.experiments.study_folder import StudyFolder

SHOWN = (
    *("suboptimality", "regret", "value", "return"),
    *("optimistic_value", "bonus", "ascension"),
)
"""What is written of a run, as far as it has it."""


class TensorBoard:
    """Writes the curves of each run that finishes into a folder for TensorBoard.

    It needs tensorboardX: ``pip install 'optimist[tensorboard]'``.
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

    def __call__(self, run: Run, folder: StudyFolder) -> None:
        """Write one run."""
        curves = folder.of(run).curves
        # One folder each, in this one: ".." is a name too.
        names = (quote(n, safe=" ,").replace(".", "%2E") for n in (run.world, run.agent))
        target = self._folder.joinpath(*names, f"seed {run.index}")
        with self._writer(str(target)) as writer:
            for column in (c for c in SHOWN if c in curves):
                for episode, value in zip(curves["episode"], curves[column], strict=True):
                    writer.add_scalar(column, float(value), int(episode))
