"""The worlds of a report by the quantities measured in them."""

from typing import Any


def worlds_with(data: dict[str, Any], what: str) -> list[dict[str, Any]]:
    """The worlds in which a quantity is measured."""
    if "matching_error" in what:
        if not with_imitators(data):
            raise ValueError(f"{what} is not available: the report has no imitators")
        return with_imitators(data)
    if what == "return":
        if not with_returns(data):
            raise ValueError("return is not available: the report has no Gymnasium environment")
        return with_returns(data)
    if with_returns(data) and not with_losses(data):
        raise ValueError(f'{what} is not available for Gymnasium environments; use what="return"')
    return with_losses(data)


def with_returns(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The Gymnasium environments, measured by returns because no optimum is known."""
    return [world for world in data["worlds"] if world.get("returns")]


def with_losses(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The known MDPs, measured by suboptimality and regret."""
    return [world for world in data["worlds"] if not world.get("returns")]


def with_imitators(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The worlds with at least one imitator."""
    return [w for w in data["worlds"] if any("matching_error" in c for c in w["curves"].values())]
