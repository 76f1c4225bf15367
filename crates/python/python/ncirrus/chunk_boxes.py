"""Pictures of chunk grids: an array as a box that lines divide into chunks, in SVG for the pages of `ncirrus.html`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from ncirrus.html import _text

LINES = 40
"""Lines along an axis at most."""

# Up to so many chunks of an axis, each has its lines; more have fewer lines than chunks, evenly spaced.
_EXACT = 16

# Pixels of the shortest and of the longest axis, by the place of the axis: depth, height, width.
_SIDES = ((10, 40), (12, 56), (16, 120))
_MARGIN = 1
# An edge of the chunk that is marked is never shorter.
_SHORTEST = 2.0

_pictures = itertools.count()


def shown_axes(shape: Sequence[int], chunks: Sequence[Sequence[int]]) -> list[int]:
    """The axes that a picture shows, at most three: those with the most chunks in any of the grids, in their order."""

    def count(axis: int) -> int:
        return max((-(-shape[axis] // chunk[axis]) for chunk in chunks if chunk[axis]), default=0)

    # Among equals the last, along which elements are neighbours.
    most = sorted(range(len(shape)), key=lambda axis: (count(axis), axis), reverse=True)
    return sorted(most[:3])


def picture(shape: Sequence[int], chunk: Sequence[int] | None, axes: Sequence[int], title: str, words: str) -> str:
    """A box for an array, with the first chunk marked; without a chunk shape the box is not divided.

    `title` and `words` are what a screen reader says: they have to contain the facts.
    """
    longest = max((shape[axis] for axis in axes), default=1)
    places = _SIDES[-len(axes) :]
    sides = [_side(shape[axis], longest, place) for axis, place in zip(axes, places)]
    box = _Box(*[0.0] * (3 - len(sides)), *sides) if len(sides) > 1 else _Box(0.0, float(_SIDES[0][0]), *sides)
    parts = [f'<path class="nc-box" d="{box.outline()}"/>']
    if chunk is not None and all(shape[axis] and chunk[axis] for axis in axes):
        shares = [min(1.0, chunk[axis] / shape[axis]) for axis in axes]
        lines = "".join(
            box.line(3 - len(axes) + at, place)
            for at, axis in enumerate(axes)
            for place in _places(shape[axis], chunk[axis])
        )
        first = [1.0] * (3 - len(axes)) + shares
        parts.append(f'<path class="nc-first" d="{box.corner(*first)}"/>')
        if lines:
            parts.append(f'<path class="nc-lines" d="{lines}"/>')
    name = f"nc-grid-{next(_pictures)}"
    width, height = (math.ceil(side + 2 * _MARGIN) for side in box.size())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-labelledby="{name}-t {name}-d"><title id="{name}-t">{_text(title)}</title>'
        f'<desc id="{name}-d">{_text(words)}</desc><g transform="translate({_MARGIN} {_MARGIN})">{"".join(parts)}</g></svg>'
    )


def _side(length: int, longest: int, place: tuple[int, int]) -> float:
    """Pixels of an axis: lengths differ by orders of magnitude, so that only their logarithms fit a picture."""
    low, high = place
    return low + (high - low) * math.log1p(length) / max(math.log1p(longest), 1e-9)


def _places(length: int, chunk: int) -> list[float]:
    """Where lines divide an axis, as parts of its length: as many for twice the chunks as make a difference to the eye."""
    count = -(-length // chunk)
    if count <= _EXACT:
        return [end / length for end in range(chunk, length, chunk)]
    lines = min(LINES, int(4 * math.log2(count)))
    return [at / (lines + 1) for at in range(1, lines + 1)]


class _Box:
    """A box of which the front, the top and the left side are seen: the first axis leads away from the viewer."""

    def __init__(self, depth: float, height: float, width: float) -> None:
        self._height, self._width = height, width
        self._back = (0.8 * depth, 0.6 * depth)

    def size(self) -> tuple[float, float]:
        """Width and height of the picture."""
        return self._back[0] + self._width, self._back[1] + self._height

    def outline(self) -> str:
        """The edges that are seen."""
        (x, y), height, width = self._back, _number(self._height), _number(self._width)
        front = f"M{_number(x)} {_number(y)}h{width}v{height}h-{width}z"
        if not x:
            return front
        back = f"l{_number(-x)} {_number(-y)}"
        return f"{front}{back}h{width}l{_number(x)} {_number(y)}M0 0v{height}l{_number(x)} {_number(y)}"

    def line(self, axis: int, share: float) -> str:
        """Where a plane across an axis meets the sides that are seen."""
        (x, y), height, width = self._back, self._height, self._width
        back = f"l{_number(-x)} {_number(-y)}" if x else ""
        if axis == 0:
            start = f"M{_number(x - share * x + width)} {_number(y - share * y)}"
            return f"{start}h{_number(-width)}v{_number(height)}"
        if axis == 1:
            return f"M{_number(x + width)} {_number(y + share * height)}h{_number(-width)}{back}"
        return f"M{_number(x + share * width)} {_number(y + height)}v{_number(-height)}{back}"

    def corner(self, depth: float, height: float, width: float) -> str:
        """The sides that are seen of the first chunk, which fills such parts of the axes."""
        x, y = self._back
        wide = min(self._width, max(_SHORTEST, width * self._width))
        high = min(self._height, max(_SHORTEST, height * self._height))
        deep = min(1.0, max(_SHORTEST / math.hypot(x, y), depth)) if x else 0.0
        away = f"l{_number(-deep * x)} {_number(-deep * y)}" if x else ""
        start = f"M{_number(x)} {_number(y + high)}h{_number(wide)}v{_number(-high)}"
        return f"{start}{away}h{_number(-wide)}v{_number(high)}z"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
