"""A world given by its arrays: any finite MDP, or a stored copy of a user-defined world."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from optimist import registry
from optimist.digests import digest, named_arrays
from optimist.envs.mdp_files import arrays_of_mdp, load_mdp, mdp_of
from optimist.envs.world import World
from optimist.features import FeatureMap, Table
from optimist.mdp import FiniteMDP, LinearMDP


@dataclass(frozen=True)
class ArrayWorld(World):
    """A finite MDP as a world. Two such worlds are equal if their arrays are.

    Parameters
    ----------
    given
        The MDP; its rewards lie in [0, 1].
    origin
        Where it came from: the ``module:Class`` of the world it is a copy of, or a file's name.
    parameters
        The parameters of that world, to be shown.
    Phi
        The features of that world, [X, A, d], if it defines any.
    drawn
        The board of that world, the cells of its states and the moves of its actions, if it has
        them.

    Examples
    --------
    >>> mdp = FiniteMDP([[[0, 1], [1, 0]], [[0, 1], [1, 0]]], [[0, 0], [1, 0]], [1, 0], gamma=0.9)
    >>> ArrayWorld(mdp) == ArrayWorld(mdp.with_rewards(mdp.r))
    True
    >>> copy = ArrayWorld.of(ArrayWorld(mdp))
    >>> copy.digest == ArrayWorld(mdp).digest
    True
    """

    given: FiniteMDP = field(compare=False, repr=False)
    origin: str = "mdp"
    parameters: Mapping[str, Any] = field(default_factory=dict, compare=False)
    Phi: Any = field(default=None, compare=False, repr=False)
    drawn: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    digest: str = field(init=False, default="")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "digest", mdp_digest(self.given))

    def build(self) -> FiniteMDP:
        return self.given

    @classmethod
    def load(cls, path: str | Path) -> "ArrayWorld":
        """The world of an MDP in a file (`envs.load_mdp`)."""
        return cls(load_mdp(path), Path(path).name)

    @classmethod
    def of(cls, world: World, parameters: Mapping[str, Any] | None = None) -> "ArrayWorld":
        """A copy of a world as its arrays."""
        if isinstance(world, ArrayWorld):
            return world
        kind = type(world)
        drawn: dict[str, Any] = {}
        if world.has_board:
            cells = [list(world.position(x)) for x in range(world.mdp.n_states)]
            moves = world.moves and [list(move) for move in world.moves]
            drawn = {"board": list(world.board), "cells": cells, "moves": moves}
        Phi = None
        if kind.features is not World.features:
            Phi = world.features.all_actions(np.arange(world.mdp.n_states))
        return cls(world.mdp, registry.origin(kind), dict(parameters or {}), Phi, drawn)

    @property
    def arrays(self) -> dict[str, Any]:
        """The arrays, by name."""
        own = {} if self.Phi is None else {"features": self.Phi}
        return {**arrays_of_mdp(self.given), **own}

    @property
    def header(self) -> dict[str, Any]:
        """The fields that are not arrays, as plain data."""
        return {
            "origin": self.origin, "parameters": dict(self.parameters), "drawn": dict(self.drawn)
        }  # fmt: skip

    @classmethod
    def from_arrays(
        cls, header: dict[str, Any], arrays: dict[str, Any], path: Path
    ) -> "ArrayWorld":
        """The world of a file with such a header and such arrays."""
        mdp = mdp_of(arrays, path)
        drawn = header.get("drawn") or {}
        return cls(mdp, header["origin"], header["parameters"], arrays.get("features"), drawn)

    @cached_property
    def features(self) -> FeatureMap:
        if self.Phi is not None:
            return Table(self.Phi)
        found: FeatureMap = World.features.func(self)  # type: ignore[attr-defined]
        return found

    # Its drawing, which user-defined worlds may have

    @property
    def board(self) -> tuple[str, ...]:
        return tuple(self.drawn["board"]) if self.drawn else super().board

    @property
    def has_board(self) -> bool:
        return bool(self.drawn)

    def position(self, state: int) -> tuple[int, int]:
        if not self.drawn:
            return super().position(state)
        row, column = self.drawn["cells"][state]
        return row, column

    @property
    def moves(self) -> tuple[tuple[int, int], ...] | None:
        moves = self.drawn.get("moves")
        return moves and tuple((down, right) for down, right in moves)


def mdp_digest(mdp: FiniteMDP) -> str:
    """A digest of the arrays of an MDP."""
    kernel = sp.csr_array(mdp.kernel)
    pointers = {
        "indptr": kernel.indptr.astype(np.int64),
        "indices": kernel.indices.astype(np.int64),
    }
    arrays = {**pointers, "data": kernel.data, "r": mdp.r, "nu0": mdp.nu0}
    if isinstance(mdp, LinearMDP):
        arrays["Phi"] = mdp.Phi
    return digest(repr(mdp.gamma), *named_arrays(arrays))[: registry.DIGITS]
