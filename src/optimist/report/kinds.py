"""The worlds of a report by what is measured in them."""

from typing import Any


def worlds_with(data: dict[str, Any], what: str) -> list[dict[str, Any]]:
    """The worlds in which something is measured."""
    if "matching_error" in what:
        if not with_imitators(data):
            raise ValueError("the report has no imitators, so there is no matching error to draw")
        return with_imitators(data)
    if what == "return":
        if not with_returns(data):
            raise ValueError("the report has no Gymnasium environment, so no return to draw")
        return with_returns(data)
    if with_returns(data) and not with_losses(data):
        raise ValueError(f"in Gymnasium environments there is no {what} to draw, but the return is")
    return with_losses(data)


def with_returns(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The Gymnasium environments: no optimum is known, so they are measured by returns."""
    return [world for world in data["worlds"] if world.get("returns")]


def with_losses(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The others."""
    return [world for world in data["worlds"] if not world.get("returns")]


def with_imitators(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The worlds in which somebody imitates an expert."""
    return [w for w in data["worlds"] if any("matching_error" in c for c in w["curves"].values())]
