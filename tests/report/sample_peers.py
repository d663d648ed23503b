"""A made-up comparison of a subject with its peers, in the shape that figures and page take."""

import numpy as np


def estimate(value, spread=0.2):
    low, high = (None, None) if spread is None else (value * (1 - spread), value * (1 + spread))
    return {"value": value, "low": low, "high": high, "note": "" if spread else "one seed"}


def comparison(worlds, families=("Bold", "Careful", "Idle"), held_out=1, spread=0.2, seed=0):
    """Of some worlds the last are held out; the first family is the subject, without a grid."""
    rng = np.random.default_rng(seed)
    subject, *others = families
    found = [
        _world(name, subject, others, i >= len(worlds) - held_out, spread, rng)
        for i, name in enumerate(worlds)
    ]
    groups = {"all": found}
    if held_out:
        groups["chosen"] = [world for world in found if not world["held_out"]]
        groups["held_out"] = [world for world in found if world["held_out"]]
    return {
        "subject": subject,
        "families": {name: 2 if i else 1 for i, name in enumerate(families)},
        "sentence": f"{subject} is lowest or within 1.2 times the best peer on some worlds.",
        "within": 1.2,
        "fails": 0.5,
        "succeeds": 0.1,
        "counts": {
            group: {"worlds": len(some), "lowest": 0, "close": 0, "fails_alone": 0}
            for group, some in groups.items()
        },
        "ranks": {
            group: {name: estimate(1.0 + i, spread) for i, name in enumerate(families)}
            for group in groups
        },
        "left_out": [],
        "worlds": found,
    }


def _world(name, subject, others, held_out, spread, rng):
    means = dict(zip(others, 0.01 * 10 ** rng.uniform(0, 1.2, len(others)), strict=True))
    peer = min(means, key=means.get)
    own = means[peer] * 10 ** rng.uniform(-0.3, 0.3)
    ratio = own / means[peer]
    return {
        "name": name,
        "held_out": held_out,
        "peer": peer,
        "ratio": estimate(ratio, spread),
        "verdict": "lowest" if ratio <= 1 else "within" if ratio <= 1.2 else "behind",
        "failed": False,
        "succeeded": [],
        "families": {
            family: {
                "setting": "" if family == subject else "beta 0.3",
                "average": estimate(mean, spread),
                "ratio": mean / means[peer],
            }
            for family, mean in {subject: own, **means}.items()
        },
    }
