"""Finite MDPs in files: ``.npz`` with arrays, or ``.json`` with lists.

A file has ``P`` [X, A, X], ``r`` [X, A] or [X, A, X], ``nu0`` [X] and ``gamma``; a linear MDP has
``Phi``, ``M`` and ``w`` in the place of P and r. In an ``.npz`` file, P and r may be sparse: the
parts of a CSR matrix with X A rows, as ``P.data``, ``P.indices``, ``P.indptr`` and ``P.shape``.
"""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from optimist import limits
from optimist.errors import FileError, TooLarge
from optimist.mdp import FiniteMDP, LinearMDP

SUFFIXES = (".npz", ".json")
PARTS = ("data", "indices", "indptr", "shape")


def load_mdp(path: str | Path) -> FiniteMDP:
    """The MDP in a file.

    Examples
    --------
    >>> mdp = FiniteMDP([[[0, 1], [1, 0]], [[0, 1], [1, 0]]], [[0, 0], [1, 0]], [1, 0], gamma=0.9)
    >>> np.savez("two.npz", P=mdp.P, r=mdp.r, nu0=mdp.nu0, gamma=mdp.gamma)
    >>> load_mdp("two.npz").optimal().value == mdp.optimal().value
    True
    """
    return mdp_of(read_arrays(Path(path)), path)


def read_arrays(path: Path) -> dict[str, Any]:
    """The contents of a file by name, not yet checked."""
    if path.suffix not in SUFFIXES:
        raise FileError(f"{path} must be a .npz or .json file with an MDP")
    try:
        limits.need_to_read(path, times=limits.TEXT if path.suffix == ".json" else 2)
        if path.suffix == ".json":
            data = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(data, dict):
                raise ValueError(f"it must hold an object; got a {type(data).__name__}")
            return data
        with zipfile.ZipFile(path) as archive:  # arrays may be packed far below their size
            size = sum(entry.file_size for entry in archive.infolist())
        limits.need(2 * size, f"the arrays of {path}")
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except TooLarge:
        raise
    except (OSError, ValueError, KeyError, RecursionError, zipfile.BadZipFile) as error:
        raise FileError(f"{path} cannot be read as an MDP: {error}") from None


def mdp_of(arrays: dict[str, Any], path: str | Path) -> FiniteMDP:
    """The MDP of the arrays of a file."""
    linear = "Phi" in arrays
    names = ("Phi", "M", "w", "nu0", "gamma") if linear else ("P", "r", "nu0", "gamma")
    try:
        given: Any = {name: _entry(arrays, name) for name in names}
        given["gamma"] = float(np.asarray(given["gamma"]).item())
        return LinearMDP(**given) if linear else FiniteMDP(**given)
    except KeyError as error:
        raise FileError(f"{path} has no {error}: an MDP has {', '.join(names)}") from None
    except (TypeError, ValueError) as error:
        raise FileError(f"{path} holds no MDP: {error}") from None


def arrays_of_mdp(mdp: FiniteMDP) -> dict[str, Any]:
    """An MDP as arrays, by the names in a file."""
    rest = {"nu0": mdp.nu0, "gamma": np.array(mdp.gamma)}
    if isinstance(mdp, LinearMDP):
        return {"Phi": mdp.Phi, "M": mdp.M, "w": mdp.w, **rest}
    r = mdp.r if mdp.transition_rewards is None else mdp.transition_rewards
    return {**_parts("P", mdp.P), **_parts("r", r), **rest}


def _parts(name: str, matrix: Any) -> dict[str, Any]:
    if isinstance(matrix, np.ndarray):
        return {name: matrix}
    return {f"{name}.{part}": np.asarray(getattr(matrix, part)) for part in PARTS}


def _entry(arrays: dict[str, Any], name: str) -> Any:
    if f"{name}.data" not in arrays:
        return arrays[name]
    data, indices, indptr, shape = (arrays[f"{name}.{part}"] for part in PARTS)
    rows, columns = (int(n) for n in shape)
    matrix = sp.csr_array((data, indices, indptr), shape=(rows, columns))
    matrix.check_format(full_check=True)
    return matrix
