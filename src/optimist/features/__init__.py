"""Feature maps of states and of state-action pairs.

=====================  =============================================================
Features of (x, a)     Use them
=====================  =============================================================
`OneHot`               for finitely many states without structure: the tabular case
`Distinct`             for observations of any kind, each a state of its own
`Table`                for finitely many states with known features [X, A, d]
`PerAction`            to give each action its own weights on state features
`StateOnly`            if the action does not matter, as for rewards of the state
`Concatenation`        if rewards and transitions have different features
=====================  =============================================================

=====================  =============================================================
Features of x          Use them
=====================  =============================================================
`OneHotState`          for discrete observations
`OneHotProduct`        for observations made of several discrete ones
`Tiles`                on a box of few dimensions; one tiling has the fastest updates
`RBF`                  on a box of few dimensions, for values smooth in the state
`Fourier`              on a box of more dimensions, if a grid is too large
=====================  =============================================================

All are batched, return new float64 arrays, and declare their norm bound and block structure.

For the spaces of a Gymnasium environment, `features_named` builds features from a name such as
``tiles:12x8``, `default_name` chooses a name, and `count_actions` counts the actions.
`describe` and `from_description` turn the shipped features into JSON data and back.
"""

from optimist.features.base import FeatureMap, StateFeatures, Structure
from optimist.features.box import read_box
from optimist.features.concatenation import Concatenation
from optimist.features.description import describe, from_description
from optimist.features.distinct import Distinct
from optimist.features.fourier import Fourier
from optimist.features.naming import default_name, features_named
from optimist.features.numbering import Numbering
from optimist.features.one_hot import OneHot, OneHotState
from optimist.features.per_action import PerAction
from optimist.features.product import OneHotProduct
from optimist.features.rbf import RBF
from optimist.features.spaces import count_actions
from optimist.features.state_only import StateOnly
from optimist.features.table import Table
from optimist.features.tiles import Tiles

__all__ = [
    "RBF",
    "Concatenation",
    "Distinct",
    "FeatureMap",
    "Fourier",
    "Numbering",
    "OneHot",
    "OneHotProduct",
    "OneHotState",
    "PerAction",
    "StateFeatures",
    "StateOnly",
    "Structure",
    "Table",
    "Tiles",
    "count_actions",
    "default_name",
    "describe",
    "features_named",
    "from_description",
    "read_box",
]
