"""Display of an agent: a card in a notebook, and boards of its values and optimism."""

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from optimist.agents.driver import Driver
from optimist.checks import FloatArray
from optimist.core.timed import table_in
from optimist.display import svg
from optimist.display.boards import Map
from optimist.display.card import card
from optimist.envs.world import MOST_STATES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROUNDING = 1e-12
"""Bonuses and probabilities of heaven that are no larger count as none."""


class Shown:
    """Base class of agents that can be shown."""

    _driver: Driver
    _world: Any

    def _repr_html_(self) -> str:
        driver = self._driver
        world = getattr(driver, "world", self._world)  # an environment as it is played
        facts = {"world": getattr(world, "name", type(self._world).__name__)}
        facts |= {"episodes": f"{driver.episodes:,}", "steps": f"{driver.steps:,}"}
        where, me, picture = self._map, self, ""  # type: Map | None, Any, str
        if where is not None and driver.episodes:
            name, values = next(iter(self._boards().items()))
            picture = svg.board(where, values, f"{name} by state")
        elif me.remembers and (course := me.history.course):
            picture = svg.sparkline(course[1], f"{course[0]} by episode")
        return card(type(self).__name__, facts, picture)

    @property
    def _map(self) -> Map | None:
        return getattr(self._world, "map", None)

    def _boards(self) -> dict[str, FloatArray]:
        """The quantities that the agent estimates for each state of a finite world, by name."""
        driver = self._driver
        assert driver.mdp is not None  # as there is a map
        now = driver.diagnostics
        found = {"value": now.V, "bonus": now.CB.mean(axis=1), "heaven": now.p.mean(axis=1)}
        found["occupancy"] = driver.mdp.state_occupancy(table_in(driver.mdp, driver.policy))
        known = {name: values for name, values in found.items() if np.isfinite(values).all()}
        return {n: v for n, v in known.items() if n == "value" or v.max() > ROUNDING}

    @overload
    def show(self, what: str | None = ..., *, ax: None = ...) -> "Figure": ...
    @overload
    def show(self, what: str, *, ax: "Axes") -> "Axes": ...
    def show(self, what: str | None = None, *, ax: "Axes | None" = None) -> "Figure | Axes":
        """Draw the agent's present values and optimism on the map of its world.

        Parameters
        ----------
        what
            One of "value", with the arrows of the policy, "bonus", "heaven", the probability of
            heaven, and "occupancy", the exact one of the policy. By default all that there are;
            bonuses and probabilities of heaven are means over the actions.
        ax
            The axes to draw one of them into; they are then returned.

        Examples
        --------
        >>> from optimist import Optimist, envs
        >>> agent = Optimist(envs.GridWorld(), seed=0)
        >>> history = agent.learn(100)
        >>> [ax.get_title() for ax in agent.show().axes[::2]]     # the others are colour bars
        ['value', 'bonus', 'heaven', 'occupancy']
        """
        from optimist.display.beliefs import boards_figure, draw_board

        where = self._map
        if where is None or self._driver.mdp is None:
            raise ValueError(
                f"the world must have a map to be shown, of no more than {MOST_STATES:,} states; "
                "history.plot() draws the curves of any"
            )
        boards, pi = self._boards(), table_in(self._driver.mdp, self._driver.policy)
        if what is not None and what not in boards:
            there = ", ".join(map(repr, boards))
            raise ValueError(f"what must be one of {there}; got {what!r}")
        if ax is None:
            return boards_figure(where, boards if what is None else {what: boards[what]}, pi)
        if what is None:
            raise ValueError("ax= takes one board: give what=")
        return draw_board(ax, where, what, boards[what], pi)
