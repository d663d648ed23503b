"""The regret bound of Theorem main-full, line by line, with every constant."""

from dataclasses import dataclass

import numpy as np

from optimist.theory import bonuses, parameters
from optimist.theory.covariance import number_of_epochs
from optimist.theory.numbers import Real, formula, plain
from optimist.theory.parameters import horizon, log_determinant, steps, value_bound


@formula()
def augmented_regret_bound(
    K: Real, epochs: Real, eta: Real, Q_max: Real, bonus_sum: Real, n_actions: Real, gamma: Real
) -> Real:
    """The bound on regret+ of Lemma bound-regret-plus, from its ingredients.

    E(K) log A / eta + 4 Q_max E(K) + 2 Q_max^2 eta K sqrt H + 2 sum_k <mu(pi_k), (1 - p+) CB_k>.

    Examples
    --------
    >>> augmented_regret_bound(K=100, epochs=5, eta=0.5, Q_max=4, bonus_sum=30, n_actions=1,
    ...                        gamma=0.75)
    3340.0
    """
    resets = epochs * np.log(n_actions) / eta + 4 * Q_max * epochs
    return resets + 2 * Q_max**2 * eta * K * np.sqrt(horizon(gamma)) + 2 * bonus_sum


@dataclass(frozen=True)
class RegretBound:
    """The terms of the bound on the regret over K episodes; each a number, or an array over K.

    Attributes
    ----------
    heaven
        Ascension to heaven from uncertain pairs: of order d^3 H^3, and logarithms of K.
    heaven_chance
        The deviation of that term from its mean: of order d^2 H^4.
    leak
        Ascension from certain pairs, as sigma(-omega) > 0: 4 H^2 R_max.
    epochs
        The jumps of the values between epochs: of order d H^2.
    policy
        The steps of the policy and its resets: of order sqrt(d H^{9/2} K log A).
    bonuses
        The bonuses: of order sqrt(d^3 H^3 K).
    bonuses_chance
        The deviation of that term from its mean: of order d H^2. The last display of the proof
        prints its beta with one H too many.
    epoch_starts
        A term that the proof omits; see the function of this name.
    mended
        The corrected bound, which holds with probability 1 - 4 delta if ||m|| <= sqrt d. It
        includes `epoch_starts`, and divides all terms from bonuses by gamma, since the last pair of
        an episode is not recorded (PAPER.md, E1 to E3).
    trivial
        K H R_max, the largest possible regret.
    """

    heaven: Real
    heaven_chance: Real
    leak: Real
    epochs: Real
    policy: Real
    bonuses: Real
    bonuses_chance: Real
    epoch_starts: Real
    mended: Real
    trivial: Real

    @property
    def terms(self) -> dict[str, Real]:
        """The printed terms by name, in the order of the proof."""
        others = ("epoch_starts", "mended", "trivial")
        return {name: value for name, value in vars(self).items() if name not in others}

    @property
    def total(self) -> Real:
        """The bound as printed."""
        return sum(self.terms.values())

    @property
    def dominant(self) -> Real:
        """The name of the largest term; an array of names over K."""
        terms = self.terms
        largest = np.argmax(np.stack(np.broadcast_arrays(*terms.values())), axis=0)
        names = np.array(list(terms))[largest]
        return str(names) if names.ndim == 0 else names


@formula("K >= 8", "B >= 1", "R_max >= 1")
def regret_bound(
    K: Real,
    d: Real,
    n_actions: Real,
    gamma: Real,
    B: Real,
    W_max: Real,
    R_max: Real = 1.0,
    delta: Real = 0.1,
    beta: Real = None,
) -> RegretBound:
    """Compute the last explicit display of the proof of Theorem main-full, times H, by terms.

    With the theorem's omega, alpha and eta, for K >= 8 and B, R_max >= 1:

        heaven          128 H R_max beta^2 B^2 d log(K)^2 log(1 + B^2 T / d)
        heaven_chance   64 H^2 R_max beta^2 B^2 log(K)^2 log(2 K / delta)^2
        leak            4 H^2 R_max
        epochs          40 H^2 R_max d log(1 + B^2 T / d)
        policy          4 sqrt(10 R_max^2 H^{9/2} d log(1 + B^2 T / d) K log A)
        bonuses         8 beta B sqrt(d T log(1 + B^2 T / d))
        bonuses_chance  8 H beta B log(2 K / delta)^2

    The theorem states probability 1 - delta. Four events make it 1 - 4 delta: the lengths, the
    validity of the bonuses, and two sums of bonuses. ``mended`` is the corrected bound.

    Parameters
    ----------
    K, d, n_actions, gamma, B, W_max, R_max, delta
        As in `parameters.beta` and `parameters.eta`; W_max enters beta only.
    beta
        The exploration coefficient; by default that of Lemma good-event-holds.

    Examples
    --------
    RiverSwim with 6 states. The bound is far above the largest possible regret:

    >>> bound = regret_bound(1000, d=12, n_actions=2, gamma=0.9, B=1, W_max=1)
    >>> bound.dominant, f"{bound.total / bound.trivial:.0e}"
    ('heaven_chance', '6e+13')
    >>> regret_bound([1e3, 1e40], d=12, n_actions=2, gamma=0.9, B=1, W_max=1).dominant
    array(['heaven_chance', 'bonuses'], dtype='<U14')
    """
    if beta is None:
        beta = parameters.beta(K, d, gamma, B, W_max, R_max, delta)
    H, potential = horizon(gamma), log_determinant(steps(K, gamma, delta), d, B)
    policy = 4 * np.sqrt(10 * R_max**2 * H**4.5 * potential * np.log(n_actions) * K)
    omega, alpha = parameters.omega(K), parameters.alpha(K)
    Q_max = 2 * H * R_max  # at least H (R_max + 2 omega / alpha)
    return _terms((K, d, gamma, B, R_max, delta), omega, alpha, beta, Q_max, policy)


@formula("B >= 1", "omega >= 2")
def regret_bound_for(
    K: Real,
    d: Real,
    n_actions: Real,
    gamma: Real,
    B: Real,
    R_max: Real,
    delta: Real,
    *,
    omega: Real,
    alpha: Real,
    beta: Real,
    eta: Real,
) -> RegretBound:
    """Compute the bound for any parameters: the display before the proof chooses them, times H.

    It holds for every omega >= 2, alpha and eta, and every beta for which the bonuses are valid.
    It scales with rewards: if R_max and beta are multiplied by c, and alpha and eta divided by c,
    every term is multiplied by c. `regret_bound` does not scale, as it uses R_max + 1 <= 2 R_max.

    Examples
    --------
    >>> usual = {"K": 1000, "d": 12, "n_actions": 2, "gamma": 0.9, "B": 1, "delta": 0.1}
    >>> small = regret_bound_for(**usual, R_max=1, omega=7, alpha=14, beta=0.5, eta=0.01)
    >>> large = regret_bound_for(**usual, R_max=4, omega=7, alpha=3.5, beta=2, eta=0.0025)
    >>> round(large.total / small.total, 9)
    4.0
    """
    H, Q_max = horizon(gamma), value_bound(gamma, R_max, omega, alpha)
    resets = H * number_of_epochs(steps(K, gamma, delta), d, B) / eta
    policy = resets * np.log(n_actions) + 2 * eta * Q_max**2 * H**1.5 * K
    return _terms((K, d, gamma, B, R_max, delta), omega, alpha, beta, Q_max, policy)


def _terms(
    sizes: tuple[Real, ...], omega: Real, alpha: Real, beta: Real, Q_max: Real, policy: Real
) -> RegretBound:
    K, d, gamma, B, R_max, delta = sizes
    H, T, bonus = horizon(gamma), steps(K, gamma, delta), beta * B  # the largest bonus
    ascent, potential = R_max * (alpha * bonus) ** 2, log_determinant(T, d, B)
    chance = np.log(2 * K / delta) ** 2
    of_bonuses = {
        "heaven": 32 * H * ascent * potential,
        "heaven_chance": 16 * H**2 * ascent * chance,
        "bonuses": 8 * bonus * np.sqrt(T * potential),
        "bonuses_chance": 8 * H * bonus * chance,
        "epoch_starts": epoch_starts(K, d, gamma, B, R_max, delta, alpha, beta),
    }
    others = {
        "leak": 4 * H**2 * R_max * K * np.exp(-omega),
        "epochs": 20 * H * Q_max * potential,
        "policy": policy,
    }
    with np.errstate(divide="ignore"):  # at gamma = 0 no pair is recorded
        mended = sum(of_bonuses.values()) / gamma + sum(others.values())
    values = {**of_bonuses, **others, "mended": mended, "trivial": K * H * R_max}
    return RegretBound(**{name: plain(value) for name, value in values.items()})


@formula("B >= 1")
def epoch_starts(
    K: Real, d: Real, gamma: Real, B: Real, R_max: Real, delta: Real, alpha: Real, beta: Real
) -> Real:
    """An upper bound on what the regret bound omits; see `bonuses.bonus_sum_at_epoch_starts`.

    H (4 H R_max alpha^2 sum <mu(pi_k), CB_k^2> + 2 sum <mu(pi_k), CB_k>) over the first episodes of
    all epochs. It is of order d^3 H^4 and logarithms of K, 5 H log(K / delta) / 4 times `heaven`.

    Examples
    --------
    >>> heaven = regret_bound(1000, d=12, n_actions=2, gamma=0.9, B=1, W_max=1, beta=1).heaven
    >>> round(epoch_starts(1000, 12, 0.9, 1, 1, 0.1, 2 * np.log(1000), beta=1) / heaven, 2)
    115.16
    """
    given = (K, d, gamma, B, beta, delta)
    H = horizon(gamma)
    squares = 4 * H * R_max * alpha**2 * bonuses.squared_bonus_sum_at_epoch_starts(*given)
    return H * (squares + 2 * bonuses.bonus_sum_at_epoch_starts(*given))
