"""The numbers that maps on a box are built from."""

from collections.abc import Sequence

from optimist.checks import count


def per_dimension(value: int | Sequence[int], name: str, n_dims: int) -> tuple[int, ...]:
    """One positive whole number per dimension of the box, given as such or as one for all.

    Examples
    --------
    >>> per_dimension(8, "bins", n_dims=2), per_dimension([8, 4], "bins", n_dims=2)
    ((8, 8), (8, 4))
    """
    if not isinstance(value, Sequence):
        return (count(value, name),) * n_dims
    if len(value) != n_dims:
        raise ValueError(
            f"{name} has {len(value)} entries; it must be one number, or one for each of the "
            f"{n_dims} dimensions of the box"
        )
    return tuple(count(number, f"{name}[{i}]") for i, number in enumerate(value))
