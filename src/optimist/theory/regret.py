"""The regret bound of Theorem main-full, line by line, with every constant."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from optimist.theory import bonuses, parameters
from optimist.theory.covariance import number_of_epochs
from optimist.theory.numbers import Numbers, discounts, numbers, plain, shares
from optimist.theory.parameters import horizon, log_determinant, steps, value_bound


def augmented_regret_bound(
    K: ArrayLike,
    epochs: ArrayLike,
    eta: ArrayLike,
    Q_max: ArrayLike,
    bonus_sum: ArrayLike,
    n_actions: ArrayLike,
    gamma: ArrayLike,
) -> Numbers:
    """The bound on regret+ of Lemma bound-regret-plus, from its ingredients.

    E(K) log A / eta + 4 Q_max E(K) + 2 Q_max^2 eta K sqrt H + 2 sum_k <mu(pi_k), (1 - p+) CB_k>.

    Examples
    --------
    >>> augmented_regret_bound(K=100, epochs=5, eta=0.5, Q_max=4, bonus_sum=30, n_actions=1,
    ...                        gamma=0.75)
    3340.0
    """
    rounds, values = numbers(epochs, "epochs", least=0), numbers(Q_max, "Q_max", above=0)
    rate, log_A = numbers(eta, "eta", above=0), np.log(numbers(n_actions, "n_actions", least=1))
    drift = 2 * values**2 * rate * numbers(K, "K", least=1) * np.sqrt(horizon(gamma))
    paid = 2 * numbers(bonus_sum, "bonus_sum", least=0)
    return plain(rounds * log_A / rate + 4 * values * rounds + drift + paid)


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

    heaven: Numbers
    heaven_chance: Numbers
    leak: Numbers
    epochs: Numbers
    policy: Numbers
    bonuses: Numbers
    bonuses_chance: Numbers
    epoch_starts: Numbers
    mended: Numbers
    trivial: Numbers

    @property
    def terms(self) -> dict[str, Numbers]:
        """The printed terms by name, in the order of the proof."""
        others = ("epoch_starts", "mended", "trivial")
        return {name: value for name, value in vars(self).items() if name not in others}

    @property
    def total(self) -> Numbers:
        """The bound as printed."""
        return sum(self.terms.values())

    @property
    def dominant(self) -> Numbers:
        """The name of the largest term; an array of names over K."""
        terms = self.terms
        largest = np.argmax(np.stack(np.broadcast_arrays(*terms.values())), axis=0)
        names = np.array(list(terms))[largest]
        return str(names) if names.ndim == 0 else names


def regret_bound(
    K: ArrayLike,
    d: ArrayLike,
    n_actions: ArrayLike,
    gamma: ArrayLike,
    B: ArrayLike,
    W_max: ArrayLike,
    R_max: ArrayLike = 1.0,
    delta: ArrayLike = 0.1,
    beta: ArrayLike | None = None,
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
    episodes, rewards = numbers(K, "K", least=8), numbers(R_max, "R_max", least=1)
    if beta is None:
        beta = parameters.beta(K, d, gamma, B, W_max, R_max, delta)
    potential = log_determinant(steps(K, gamma, delta), d, B)
    log_A = np.log(numbers(n_actions, "n_actions", least=1))
    policy = 4 * np.sqrt(10 * rewards**2 * horizon(gamma) ** 4.5 * potential * log_A * episodes)
    log_K = parameters.omega(K)
    Q_max = 2 * horizon(gamma) * rewards  # at least H (R_max + 2 omega / alpha)
    return _terms(K, d, gamma, B, R_max, delta, log_K, 2 * log_K, beta, Q_max, policy)


def regret_bound_for(
    K: ArrayLike,
    d: ArrayLike,
    n_actions: ArrayLike,
    gamma: ArrayLike,
    B: ArrayLike,
    R_max: ArrayLike,
    delta: ArrayLike,
    *,
    omega: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    eta: ArrayLike,
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
    rate, H = numbers(eta, "eta", above=0), horizon(gamma)
    Q_max = value_bound(gamma, R_max, numbers(omega, "omega", least=2), alpha)
    resets = H * number_of_epochs(steps(K, gamma, delta), d, B) / rate
    drift = 2 * rate * Q_max**2 * H**1.5 * numbers(K, "K", least=1)
    policy = resets * np.log(numbers(n_actions, "n_actions", least=1)) + drift
    return _terms(K, d, gamma, B, R_max, delta, omega, alpha, beta, Q_max, policy)


def _terms(
    K: ArrayLike,
    d: ArrayLike,
    gamma: ArrayLike,
    B: ArrayLike,
    R_max: ArrayLike,
    delta: ArrayLike,
    omega: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
    Q_max: ArrayLike,
    policy: ArrayLike,
) -> RegretBound:
    episodes, rewards, H = numbers(K, "K"), numbers(R_max, "R_max", above=0), horizon(gamma)
    bonus = numbers(beta, "beta", least=0) * numbers(B, "B", least=1)  # the largest
    ascent = rewards * (numbers(alpha, "alpha", above=0) * bonus) ** 2
    T = steps(K, gamma, delta)
    potential = log_determinant(T, d, B)
    chance = np.log(2 * episodes / shares(delta)) ** 2
    of_bonuses = {
        "heaven": 32 * H * ascent * potential,
        "heaven_chance": 16 * H**2 * ascent * chance,
        "bonuses": 8 * bonus * np.sqrt(T * potential),
        "bonuses_chance": 8 * H * bonus * chance,
        "epoch_starts": epoch_starts(K, d, gamma, B, R_max, delta, alpha, beta),
    }
    others = {
        "leak": 4 * H**2 * rewards * episodes * np.exp(-numbers(omega, "omega")),
        "epochs": 20 * H * numbers(Q_max, "Q_max") * potential,
        "policy": numbers(policy, "policy"),
    }
    with np.errstate(divide="ignore"):  # at gamma = 0 no pair is recorded
        mended = sum(of_bonuses.values()) / discounts(gamma) + sum(others.values())
    values = {**of_bonuses, **others, "mended": mended, "trivial": episodes * H * rewards}
    return RegretBound(**{name: plain(value) for name, value in values.items()})


def epoch_starts(
    K: ArrayLike,
    d: ArrayLike,
    gamma: ArrayLike,
    B: ArrayLike,
    R_max: ArrayLike,
    delta: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
) -> Numbers:
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
    H, slope = horizon(gamma), numbers(alpha, "alpha", above=0)
    ascent = 4 * H * numbers(R_max, "R_max", above=0) * slope**2
    squares = ascent * bonuses.squared_bonus_sum_at_epoch_starts(*given)
    return plain(H * (squares + 2 * bonuses.bonus_sum_at_epoch_starts(*given)))
