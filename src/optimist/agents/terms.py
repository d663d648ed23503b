"""What has to be said of a Gymnasium environment before it can be learnt."""

from collections.abc import Callable
from typing import Any, TypedDict

from optimist.core.memory import WhenFull
from optimist.envs.players import Players
from optimist.envs.reward_scale import Range, RewardMap
from optimist.features import (
    FeatureMap,
    PerAction,
    StateFeatures,
    default_name,
    features_named,
)

AnyFeatures = FeatureMap | StateFeatures | str


class Terms(TypedDict, total=False):
    """What has to be said of a Gymnasium environment; everything but gamma has a default.

    Attributes
    ----------
    gamma
        The discount factor.
    reward_range
        The least and the largest reward, and 0 if episodes terminate: they are mapped onto
        [0, R_max]. By default what is known (`envs.known_range`), else [0, R_max]. A reward outside
        is an error.
    reward_map
        A map of rewards into [0, R_max] of one's own instead; it says what 0, the reward for ever
        after termination, becomes.
    reward
        The rewards as a known function of observations [n, ...], [n, A], in the environment's own
        units. By default they are estimated from those paid, by the regression that estimates the
        transitions.
    geometric
        Whether episodes are broken off after each step with probability 1 - gamma, as in the paper;
        otherwise they are the environment's own. By default they are its own if it has a time
        limit: without one an episode may never end.
    value_bound
        An upper bound on the optimal values of all states in the environment's own units, if one is
        known: heaven is worth that. Without it nothing but the largest reward for ever is known.
    memory
        About how many bytes the states met may take; 1 GiB by default.
    when_full
        "thin" (the default) forgets transitions that others stand for (`core.memory`), "error"
        raises `MemoryFull`.
    """

    gamma: float
    reward_range: Range | None
    reward_map: RewardMap | None
    reward: Callable[[Any], Any] | None
    geometric: bool | None
    value_bound: float | None
    memory: float
    when_full: WhenFull


def check_terms(terms: Terms) -> dict[str, Any]:
    """The terms, if there are such and gamma is among them."""
    given: dict[str, Any] = dict(terms)
    refuse_unknown(given, f"of an environment one can say {', '.join(Terms.__annotations__)}; ")
    if "gamma" not in given:
        raise TypeError("a Gymnasium environment has no discount factor: give one as gamma=")
    return given


def refuse_unknown(given: dict[str, Any], instead: str = "") -> None:
    """Refuse what is no term, and say where parameters go."""
    unknown = sorted(set(given) - set(Terms.__annotations__))
    if unknown:
        raise TypeError(
            f"there is no {', '.join(unknown)}: {instead}parameters of the algorithm go into "
            "config="
        )


def refuse_terms(terms: Terms, but: str = "") -> None:
    """Refuse what a finite world says itself."""
    refuse_unknown(dict(terms))
    others = [name for name in terms if name != but]
    if others:
        raise TypeError(
            f"{', '.join(others)} can be said of a Gymnasium environment; a world says it itself"
        )


def features_of(given: AnyFeatures | None, players: Players) -> FeatureMap:
    """The map phi, in whichever way it is given."""
    space, n_actions = players.observation_space, players.n_actions
    if given is None:
        given = default_name(space)
    if isinstance(given, str):
        return features_named(given, space, n_actions)
    phi = PerAction(given, n_actions) if isinstance(given, StateFeatures) else given
    if not isinstance(phi, FeatureMap):
        raise TypeError(f"features = {given!r} must be a FeatureMap, features of states or a name")
    if phi.n_actions != n_actions:
        raise ValueError(f"the features have {phi.n_actions} actions, the world has {n_actions}")
    return phi
