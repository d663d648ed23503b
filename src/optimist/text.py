"""Text that somebody else wrote, such as a name in a study: what of it is shown as it is."""

import unicodedata

HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""The Unicode categories of what is not seen but does something: control characters, such as the
one that begins a terminal's commands; marks of direction, and of no width; halves of characters;
separators of lines."""

LINES = "\n\r\t"


def printable(text: object, keep: str = LINES) -> str:
    r"""The text with escapes for all that is not seen, but for the characters to keep.

    Examples
    --------
    >>> print(printable("\x1b[31mred, \u202egnirts"))
    \x1b[31mred, \u202egnirts
    """
    return "".join(
        c.encode("unicode_escape").decode()
        if c not in keep and unicodedata.category(c) in HIDDEN
        else c
        for c in str(text)
    )


def check_seen(text: str, what: str, keep: str = "") -> None:
    r"""Refuse text that has in it what is not seen.

    Examples
    --------
    >>> check_seen("river\u200b", "the name of a world")
    Traceback (most recent call last):
    ...
    ValueError: the name of a world must be text that can be seen; got 'river\u200b'
    """
    if printable(text, keep) != text:
        raise ValueError(f"{what} must be text that can be seen; got {text!r}")
