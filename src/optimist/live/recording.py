"""Moving pictures of a run, drawn from its frames without a browser: GIF or MP4."""

import io
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optimist.checks import FloatArray
from optimist.display.boards import Map, contrast_colour, draw, draw_arrows, scale
from optimist.display.style import COLOURS, number, style
from optimist.live.feed import Feed
from optimist.live.frames import Frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEEDED = {".gif": ("imageio", "PIL"), ".mp4": ("imageio", "imageio_ffmpeg")}
"""The packages of each kind."""

BOARDS = {
    "ascension": ("chance of heaven", True, False),
    "value": ("value: what it hopes for", False, False),
    "bonus": ("bonus", True, False),
    "occupancy": ("occupancy", False, True),
    "visits": ("visits", False, True),
}
"""The boards with their titles, whether they are of optimism, and of logarithmic colours."""

MOST_BOARDS = 3
HEIGHT, WIDTH, DPI = 2.6, 2.3, 110
"""Of a panel in inches, and dots an inch."""

SLOW, SLOW_FRAMES, FAST, LAST = 260, 12, 90, 3000
"""Milliseconds of the first frames, how many these are, of the others, and of the last."""

COLOURS_OF_GIF, PALETTE_FRAMES = 64, 12

PATH = "#D55E00"

TINY = 1e-9
"""The height of a chart of nothing but zeros."""


def check_kind(file: Path) -> None:
    """Raise an error if such a file cannot be written."""
    kind = file.suffix.lower()
    if kind not in NEEDED:
        raise ValueError(f"a recording must be a .gif or .mp4 file; got {file.name}")
    for package in NEEDED[kind]:
        try:
            import_module(package)
        except ImportError:
            raise ImportError(
                f"{kind} needs the package {package}: pip install 'optimist[live]'"
                + (", or record a .gif" if package == "imageio_ffmpeg" else "")
            ) from None


def record(feed: Feed, file: str | Path) -> None:
    """Write the frames of a run as a moving picture.

    Parameters
    ----------
    feed
        The feed of the run; one that is ``steady`` has the same frames in every run.
    file
        A .gif or .mp4 file.

    Examples
    --------
    >>> import optimist as opt
    >>> feed = opt.live.Feed(steady=True)
    >>> history = opt.Optimist(opt.envs.RiverSwim(6), seed=0).learn(3, live=feed)
    >>> record(feed, "river.gif")
    """
    path = Path(file)
    check_kind(path)
    frames = feed.complete_frames()
    if not frames:
        raise ValueError("the feed has no frames: give it to learn(live=) first")
    milliseconds = [SLOW if i < SLOW_FRAMES else FAST for i in range(len(frames))]
    milliseconds[-1] = LAST
    pictures = drawn(feed, frames)
    if path.suffix.lower() == ".gif":
        write_gif(path, pictures, milliseconds)
    else:
        write_mp4(path, pictures, milliseconds)


def write_gif(path: Path, pictures: list[Any], milliseconds: list[int]) -> None:
    """Write pictures with few colours, the same in all of them, so that the file is small."""
    import imageio.v3 as iio
    from PIL import Image

    some = np.concatenate(pictures[:: max(1, len(pictures) // PALETTE_FRAMES)])
    palette = Image.fromarray(some).quantize(COLOURS_OF_GIF)
    plain = Image.Dither.NONE
    few = [Image.fromarray(p).quantize(palette=palette, dither=plain) for p in pictures]
    frames = np.stack([np.asarray(image.convert("RGB")) for image in few])
    iio.imwrite(path, frames, extension=".gif", duration=milliseconds, loop=0)


def write_mp4(path: Path, pictures: list[Any], milliseconds: list[int]) -> None:
    """Write pictures, each repeated for its duration."""
    import imageio.v2 as iio

    writer: Any = iio.get_writer(path, fps=round(1000 / FAST), macro_block_size=2)
    with writer:
        for picture, duration in zip(pictures, milliseconds, strict=True):
            for _ in range(max(1, round(duration / FAST))):
                writer.append_data(picture)


@style()
def drawn(feed: Feed, frames: list[Frame]) -> list[NDArray[np.uint8]]:
    """The frames as pixels, [height, width, 3] each."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    scene = feed.scene
    assert scene is not None
    names = [name for name in BOARDS if any(name in f.boards for f in frames)][:MOST_BOARDS]
    pictured = any(frame.picture for frame in frames)
    n = len(names) + pictured + 1
    figure = Figure(figsize=(WIDTH * n + 0.4, HEIGHT), dpi=DPI, layout="constrained")
    canvas: Any = FigureCanvasAgg(figure)
    axes = list(np.ravel(figure.subplots(1, n)))
    moving: list[Any] = []
    if scene.picture is not None:
        moving += [_Board(axes.pop(0), scene.picture, name, frames) for name in names]
    if pictured:
        moving.append(_Rendered(axes.pop(0)))
    moving.append(_Chart(axes.pop(0), frames, scene.optimal))
    headline = figure.suptitle(" ", fontsize=9, x=0.012, ha="left")
    found: list[NDArray[np.uint8]] = []
    for frame in frames:
        headline.set_text(f"{scene.title} \N{MIDDLE DOT} {counted(frame.episodes)}")
        for part in moving:
            part.show(frame)
        canvas.draw()
        if figure.get_layout_engine() is not None and not found:  # the axes are fixed from now on
            figure.set_layout_engine("none")
            canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())[:, :, :3]
        found.append(pixels[: len(pixels) // 2 * 2, : pixels.shape[1] // 2 * 2].copy())
    return found


class _Board:
    """A board that changes from frame to frame."""

    def __init__(self, ax: "Axes", picture: Map, name: str, frames: list[Frame]) -> None:
        self.name, self.picture = name, picture
        title, hope, log = BOARDS[name]
        boards = [f.boards[name] for f in frames if name in f.boards]
        every = np.concatenate(boards)
        self.norm = scale(every[np.isfinite(every)], log)
        if not log:
            self.norm.vmin = min(0.0, self.norm.vmin)
        self.mesh = draw(ax, picture, boards[0], self.norm, False)
        if hope:
            self.mesh.set_cmap(hope_colours())
        ax.set_title(title)
        self.arrows: Any = None
        policy = frames[0].policy
        arrowed = "value" if "value" in frames[0].boards else "occupancy"
        if name == arrowed and policy is not None and picture.moves is not None:
            self.arrows = draw_arrows(ax, picture, policy, picture.moves, self.mesh)
        self.lines = [
            *ax.plot([], [], color="white", linewidth=3.4, solid_capstyle="round", alpha=0.9),
            *ax.plot([], [], color=PATH, linewidth=1.7, solid_capstyle="round"),
        ]
        [self.end] = ax.plot([], [], "o", color=PATH, markersize=4.5, markeredgecolor="white")

    def show(self, frame: Frame) -> None:
        values = frame.boards.get(self.name)
        if values is None:  # it was 0 everywhere until then
            values = np.zeros(len(self.picture.cells))
        numbers: FloatArray = np.full(self._shape, np.nan)
        numbers[tuple(self.picture.cells.T)] = np.maximum(values, self.norm.vmin)
        self.mesh.set_array(np.ma.masked_invalid(numbers))
        self._turn(frame, numbers)
        x, y = path_of(self.picture, frame)
        for line in self.lines:
            line.set_data(x, y)
        self.end.set_data(x[-1:], y[-1:])

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self.picture.board), max(len(line) for line in self.picture.board)

    def _turn(self, frame: Frame, numbers: FloatArray) -> None:
        """Turn the arrows to the policy."""
        if self.arrows is None or frame.policy is None or self.picture.moves is None:
            return
        columns, rows = (np.asarray(self.arrows.XY) - 0.5).T.round().astype(int)
        place = {tuple(cell): x for x, cell in enumerate(self.picture.cells.tolist())}
        states = [place[row, column] for row, column in zip(rows, columns, strict=True)]
        down, right = 0.8 * (frame.policy[states] @ self.picture.moves).T
        self.arrows.set_UVC(right, down)
        self.arrows.set_color(contrast_colour(self.mesh, numbers[rows, columns]))


class _Rendered:
    """The picture that an environment renders."""

    def __init__(self, ax: "Axes") -> None:
        self.ax = ax
        ax.set_axis_off()
        ax.set_title("environment")
        self.image: Any = None

    def show(self, frame: Frame) -> None:
        from PIL import Image

        if frame.picture is None:
            return
        pixels = np.asarray(Image.open(io.BytesIO(frame.picture)))
        if self.image is None:
            self.image = self.ax.imshow(pixels)
        self.image.set_data(pixels)


class _Chart:
    """Optimistic and exact values up to the frame."""

    def __init__(self, ax: "Axes", frames: list[Frame], optimal: float | None) -> None:
        from matplotlib.ticker import FuncFormatter

        known = any("value" in f.numbers for f in frames)
        names = (
            {"optimistic_value": "hopes for", "value": "gets"} if known else {"return": "return"}
        )
        colours = (COLOURS[1], COLOURS[0])
        self.lines = {}
        ends = []
        for (name, said), colour in zip(names.items(), colours, strict=False):
            points = [(f.episodes, f.numbers[name]) for f in frames if name in f.numbers]
            self.lines[name] = points, ax.plot([], [], color=colour, label=said)[0]
            ends += points
        if optimal is not None:
            ax.axhline(optimal, color="#777777", linestyle="dashed", linewidth=0.9, label="best")
        x, y = np.array(ends or [(1, 0.0)]).T
        top = max(np.nanmax(y), optimal or -np.inf)
        least = min(0.0, np.nanmin(y))
        ax.set(
            xscale="log", xlim=(1, max(x.max(), 2)), ylim=(least, top + 0.05 * (top - least) + TINY)
        )
        ax.set_title("hope and truth" if known else "return")
        ax.set_xlabel("episode")
        ax.xaxis.set_major_formatter(FuncFormatter(number))
        ax.legend(loc="best", frameon=False, fontsize=6.5)

    def show(self, frame: Frame) -> None:
        for points, line in self.lines.values():
            seen = [point for point in points if point[0] <= frame.episodes]
            line.set_data(*np.array(seen).reshape(-1, 2).T)


def hope_colours() -> Any:
    """Those of optimism on the page: magma reversed, without its black end, which walls have."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["magma_r"](np.linspace(0, 0.8, 256)))


def counted(episodes: int) -> str:
    """The number of episodes played, in words.

    Examples
    --------
    >>> counted(1), counted(2000)
    ('after 1 episode', 'after 2,000 episodes')
    """
    return f"after {episodes:,} episode{'s' * (episodes != 1)}"


def path_of(picture: Map, frame: Frame) -> tuple[FloatArray, FloatArray]:
    """The path of a frame on the axes of a board: x to the right and y down, in cells."""
    if frame.points is not None and picture.axes is not None:
        (left, right), (bottom, top) = picture.axes
        share = (frame.points - (left, top)) / (right - left, bottom - top)
        x, y = (share * (max(len(line) for line in picture.board), len(picture.board))).T
        return x, y
    if frame.path is None:
        return np.zeros(0), np.zeros(0)
    y, x = picture.cells[frame.path].T + 0.5
    return x, y
