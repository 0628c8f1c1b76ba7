"""Names the kinds of values that the static gate tells apart, each a bit.

The bit of a kind moved up by `DEPTH` says that a container may hold such a value.
"""

DEPTH = 14


class Kind:
    """One bit for each kind of value; plain numbers, because they are combined very often."""

    OWN = 1  # an instance of a class of this file
    CLASS = 2  # a class of this file
    FUNCTION = 4  # a function, a lambda or a method of this file
    FRAME = 8  # what pandas, numpy and the indicators compute with
    TEXT = 16
    PLAIN = 32  # numbers, dates, and Python's containers
    OUTSIDE = 64  # what the caller of the file hands over
    MOCK = 128  # a stand-in of a test
    OTHER = 256  # everything else: loggers, contexts, library objects, classes of libraries
    NONE = 512  # it has no attributes and no elements
    WORD = 1024  # a text that is written out and names a listed method: "mean"
    KEYED = 2048  # a dictionary, whose keys are texts
    MADE = 4096  # the file puts it together, and it may read "now"
    PIECE = 8192  # beside TEXT: a part of such a text, as "no"


STARS = ((1 << DEPTH) - 1) << DEPTH
ASIDE = Kind.MADE | Kind.PIECE  # they say of a text how it came about
EVER_MADE = Kind.MADE | Kind.MADE << DEPTH
TEXTUAL_ONLY = Kind.TEXT | Kind.WORD | ASIDE
NO_TEXT = ~(TEXTUAL_ONLY | TEXTUAL_ONLY << DEPTH)
MAY_BE_TEXT = TEXTUAL_ONLY | Kind.OUTSIDE | Kind.OTHER | Kind.FRAME


def held(mask: int) -> int:
    """Give the mask of a container that holds such values."""
    return ((mask & ~STARS) << DEPTH) | (mask & STARS)
