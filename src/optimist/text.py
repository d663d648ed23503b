"""Escape or refuse invisible characters in text from others, such as names in a study."""

import unicodedata

HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode categories of invisible characters: control characters, such as the escape character of
terminals; format characters, such as direction marks; surrogates; line and paragraph separators."""

LINES = "\n\r\t"


def printable(text: object, keep: str = LINES) -> str:
    r"""The text with invisible characters escaped, except those to keep.

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
    r"""Raise an error if a text has invisible characters, except those to keep.

    Examples
    --------
    >>> check_seen("river\u200b", "the name of a world")
    Traceback (most recent call last):
    ...
    ValueError: the name of a world must be text that can be seen; got 'river\u200b'
    """
    if printable(text, keep) != text:
        raise ValueError(f"{what} must be text that can be seen; got {text!r}")
