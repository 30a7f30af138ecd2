"""Widths of text before it is drawn: Σ of advances of a wide sans serif, so that labels fit."""

import unicodedata

# advances in shares of the font size, after DejaVu Sans, the widest font of common systems
NARROW, MEDIUM, BROAD, BROADEST = 0.40, 0.64, 0.79, 1.0
NARROW_LETTERS = frozenset("iljftrI.,:;'|!()[]{}/\\ \"‘’“”*-–−·1°")
BROAD_LETTERS = frozenset("ABCDEFGHJKLNOPQRSTUVXYZ%&+=<>≤≥~#_w→")
BROADEST_LETTERS = frozenset("mMW@—…%✔✖◐")


def width_of(text: str, size: float) -> float:
    """Return the width in pixels of a text at a font size, rather too wide than too narrow.

    >>> width_of("AUC", 10), width_of("il", 10)
    (23.7, 8.0)
    """
    return round(sum(map(_advance, text)) * size, 3)


def _advance(letter: str) -> float:
    if letter in NARROW_LETTERS:
        return NARROW
    if letter in BROADEST_LETTERS:
        return BROADEST
    if letter in BROAD_LETTERS:
        return BROAD
    if letter.isascii():
        return MEDIUM
    if unicodedata.combining(letter):
        return 0.0
    return BROADEST if unicodedata.east_asian_width(letter) in "WF" else BROAD


def shortened(text: str, size: float, room: float) -> str:
    """Return the text, cut off with … where it is wider than ``room`` pixels.

    >>> shortened("total sulfur dioxide", 10, 80)
    'total sulfur …'
    """
    if width_of(text, size) <= room:
        return text
    kept = text
    while kept and width_of(kept + "…", size) > room:
        kept = kept[:-1]
    return kept + "…"
