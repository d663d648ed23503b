"""Other places to write curves to, besides the folder of the study."""

from pathlib import Path
from urllib.parse import quote

from optimist.experiments.study import Run
from optimist.experiments.study_folder import StudyFolder

SHOWN = (
    *("suboptimality", "regret", "value", "return"),
    *("optimistic_value", "bonus", "ascension"),
)
"""The columns that are written, if a run has them."""


class TensorBoard:
    """Writes the curves of each finished run to a folder for TensorBoard.

    Needs tensorboardX: ``pip install 'optimist[tensorboard]'``.
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
        # Escape names: each is one folder below this one, even a name such as "..".
        names = (quote(n, safe=" ,").replace(".", "%2E") for n in (run.world, run.agent))
        target = self._folder.joinpath(*names, f"seed {run.index}")
        with self._writer(str(target)) as writer:
            for column in (c for c in SHOWN if c in curves):
                for episode, value in zip(curves["episode"], curves[column], strict=True):
                    writer.add_scalar(column, float(value), int(episode))
