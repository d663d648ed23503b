"""A study on disk: ``study.toml``, and a folder in ``runs/`` for each run."""

from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from optimist.core import storage
from optimist.errors import DiskError, StudyError
from optimist.experiments.run_folder import RunFolder
from optimist.experiments.study import Run, Study
from optimist.experiments.worlds import keep


@dataclass(frozen=True)
class StudyFolder:
    """The folder of a study. It may also hold runs of other studies, which are left alone."""

    path: Path

    @property
    def study(self) -> Study:
        """The study that was last run in this folder; nothing is imported for it."""
        return self.read(load=False)

    def read(self, load: bool) -> Study:
        """The study that was last run in this folder; ``load`` allows entry points to be loaded."""
        file = storage.refuse_links(self.path / "study.toml")
        if not file.exists():
            raise StudyError(f"{self.path} is not the folder of a study: it has no study.toml")
        return Study.read(file, load)

    def prepare(self, study: Study) -> None:
        """Create the folder and write the study to it, unless it is there; tidy finished runs."""
        file, text = storage.refuse_links(self.path / "study.toml"), study.text.encode()

        def parts() -> list[Path]:
            return storage.parts(self.path, file.name)

        try:
            self.runs.mkdir(parents=True, exist_ok=True)
            for world in study.worlds.values():
                keep(world, self.path)
            if parts() or not file.exists() or file.read_bytes() != text:
                lock = storage.refuse_links(self.runs / "lock")
                with FileLock(lock):  # another process may start the same study
                    for part in parts():
                        part.unlink()
                    storage.write_bytes(file, text)
            for run in study.runs:
                folder = self.of(run)
                if folder.finished:
                    folder.tidy_unless_busy()
        except OSError as error:
            raise DiskError(f"{self.path} cannot be written: {error.strerror}") from error

    @property
    def runs(self) -> Path:
        """The folder of all runs; it must not be a symbolic link."""
        return storage.refuse_links(self.path / "runs", folder=True)

    def of(self, run: Run) -> RunFolder:
        """The folder of a run."""
        return RunFolder(self.runs / run.spec.id)
