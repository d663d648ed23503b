"""Certificates of a study: the section of the page, and the figure."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from optimist.report.certificates import HEIGHT, TOP, WIDTH, band, half_by
from optimist.report.data import LEVELS
from optimist.report.figures import save_figures
from optimist.report.figures_certificates import certificates_figure
from optimist.report.page import render


@pytest.fixture
def data(sample, samples):
    return samples.certified(sample())


def section(data):
    found = re.search(r'<section id="certificates".*?</section>', render(data), re.DOTALL)[0]
    return re.sub(r"\s+", " ", re.sub(r"\s*(<[^>]*>)\s*", r"\1", found))


def test_a_study_without_certificates_has_no_section(sample):
    assert 'id="certificates"' not in render(sample())


def test_each_agent_and_world_has_a_band_and_first_episodes(data):
    html = section(data)
    assert html.count("<article") == len(data.worlds)
    assert "with probability 95%" in html
    for i, world in enumerate(data.worlds):
        inner = re.search(rf'<article data-world="{i}">.*?</article>', html)[0]
        assert inner.count('class="area"') == len(world.certified) == 2
        rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", inner)
        cells = [re.findall(r'data-label="([^"]*)">([^<]*)<small>([^<]*)<', row) for row in rows]
        assert [label for label, _, _ in cells[0]] == ["20%", "10%", "5%", "2%", "1%"]
        assert [(c, t) for _, c, t in cells[0]][:3] == [
            *(("100", "truly 10"), ("300", "truly 30"), ("–", "truly –"))  # noqa: RUF001
        ]
        assert {c for _, c, _ in cells[1]} == {"–"}  # noqa: RUF001
        assert "Idle has no certificate: it keeps no counts." in inner


def test_a_world_in_which_nothing_has_finished_says_so(data):
    worlds = (*data.worlds[:-1], replace(data.worlds[-1], certified={}, uncertified={}))
    html = section(replace(data, worlds=worlds))
    assert html.count("No run with certificates has finished in this world.") == 1


def points(path):
    return np.array([pair.split(",") for pair in path.strip("MZ").split("L")], dtype=float)


def test_the_paths_are_the_bounds_and_the_value_in_steps(data):
    found = data.worlds[0].certified["Bold"]
    drawn = band(found, length=1000)
    x = WIDTH * np.log10(np.maximum(found.episode, 1)) / 3
    line, n = points(drawn.line), len(x)
    np.testing.assert_allclose(line[::2, 0], x, atol=0.06)
    np.testing.assert_allclose(line[::2, 1], HEIGHT * (1 - found.value / TOP), atol=0.06)
    np.testing.assert_allclose(line[1::2, 0], x[1:], atol=0.06)  # until the next
    np.testing.assert_array_equal(line[1::2, 1], line[:-1:2, 1])
    area = points(drawn.area)
    upper, lower = area[: 2 * n - 1 : 2], area[2 * n - 1 :][::-1][::2]
    np.testing.assert_allclose(
        upper[:, 1], HEIGHT * (1 - np.minimum(found.upper, TOP) / TOP), atol=0.06
    )
    np.testing.assert_allclose(lower[:, 1], HEIGHT * (1 - found.lower / TOP), atol=0.06)
    assert drawn.ticks == [(WIDTH * k / 3, text) for k, text in enumerate(["1", "10", "100", "1k"])]


def test_one_point_alone_can_be_drawn(data):
    found = data.worlds[0].certified["Bold"]
    parts = {name: getattr(found, name)[:1] for name in ("episode", "lower", "upper", "value")}
    assert len(points(band(replace(found, **parts), length=1).line)) == 1


def test_reasons_are_escaped(data):
    worlds = tuple(replace(w, uncertified={"Idle": "<script>harm</script>"}) for w in data.worlds)
    assert "&lt;script&gt;harm" in section(replace(data, worlds=worlds))


def test_the_figure_has_a_point_for_each_world_and_level(data):
    """Certified ones where they are, and others in the strip above all episodes."""
    figure = certificates_figure(data)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["Bold", "Careful"]
    for ax, agent in zip(figure.axes, ("Bold", "Careful"), strict=True):
        drawn = {"o": [], "^": []}
        for line in ax.lines:
            if line.get_marker() in drawn:
                drawn[line.get_marker()] += zip(line.get_xdata(), line.get_ydata(), strict=True)
        expected = {"o": [], "^": []}
        for world in data.worlds:
            found = world.certified[agent]
            for j in range(len(LEVELS)):
                certified, truly = half_by(found.certified[:, j]), half_by(found.truly[:, j])
                if not math.isnan(truly):
                    kind = "^" if math.isnan(certified) else "o"
                    expected[kind].append((truly, certified))
        assert sorted(drawn["o"]) == sorted(expected["o"])
        assert sorted(x for x, _ in drawn["^"]) == sorted(x for x, _ in expected["^"])
        assert all(1000 < y < ax.get_ylim()[1] for _, y in drawn["^"])


def test_a_figure_needs_certificates(sample):
    with pytest.raises(ValueError, match="the report has no certificates to draw"):
        certificates_figure(sample())


def test_it_is_among_the_figures(data, sample, tmp_path):
    names = [path.name for path in save_figures(data, tmp_path, ("png",))]
    assert "certificates.png" in names
    assert "certificates.png" not in [p.name for p in save_figures(sample(), tmp_path, ("png",))]
