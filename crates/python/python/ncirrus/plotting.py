"""Pictures of variables, with the axes, ranges and colours of `ncirrus plot`."""

from __future__ import annotations

import base64
import html
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncirrus import _ncirrus, indexing
from ncirrus.errors import Error, InvalidError
from ncirrus.progress import reporting

if TYPE_CHECKING:
    from ncirrus.group import Group
    from ncirrus.variable import Variable

MAX_PICTURES = 24
"""Pictures on a page at most; the names of further variables are listed."""


class Picture:
    """A picture whose values were read. Notebooks show it; `save` writes it to a file."""

    def __init__(self, native: Any) -> None:
        self._native = native

    @property
    def description(self) -> str:
        """A line for readers who do not see the picture."""
        return str(self._native.description())

    @property
    def notes(self) -> list[str]:
        """What is not drawn, and why: dimensions of which one index is drawn, values between strides."""
        return list(self._native.notes())

    @property
    def png(self) -> bytes:
        """The picture as PNG."""
        return bytes(self._native.png())

    @property
    def svg(self) -> str:
        """The picture as SVG; its texts are text."""
        return str(self._native.svg())

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the picture to a new file `*.png` or `*.svg`; an existing one is replaced only with `overwrite`."""
        target = Path(path)
        ending = target.suffix.lower()
        if ending not in (".png", ".svg"):
            raise InvalidError(f"the name of a picture ends with .png or .svg: {os.fspath(path)!r}")
        content = self.png if ending == ".png" else self.svg.encode()
        with target.open("wb" if overwrite else "xb") as file:
            file.write(content)

    def __repr__(self) -> str:
        return f"<ncirrus.Picture: {self.description}>"

    def _repr_png_(self) -> bytes:
        return self.png

    def _repr_html_(self) -> str:
        return _figure(self, ". ".join(self.notes))


class PicturePage:
    """Small pictures of the variables of a dataset or group, for notebooks. Variables that cannot be drawn have the reason
    in `left_out`."""

    def __init__(self, name: str, pictures: dict[str, Picture], left_out: dict[str, str]) -> None:
        self._name = name
        self.pictures: dict[str, Picture] = pictures
        self.left_out: dict[str, str] = left_out

    def __repr__(self) -> str:
        return f"<ncirrus.PicturePage {self._name}: {len(self.pictures)} pictures, {len(self.left_out)} left out>"

    def _repr_html_(self) -> str:
        figures = [_figure(picture, name) for name, picture in self.pictures.items()]
        reasons = [f"<li>{html.escape(name)}: {html.escape(reason)}</li>" for name, reason in self.left_out.items()]
        left_out = f"<details><summary>not drawn: {len(reasons)}</summary><ul>{''.join(reasons)}</ul></details>" if reasons else ""
        grid = f'<div style="display:flex;flex-wrap:wrap;gap:12px">{"".join(figures)}</div>'
        return f"<div><div><b>Pictures</b> <code>{html.escape(self._name)}</code></div>{grid}{left_out}</div>"


def _figure(picture: Picture, caption: str) -> str:
    data = base64.b64encode(picture.png).decode()
    image = f'<img alt="{html.escape(picture.description)}" src="data:image/png;base64,{data}" style="max-width:100%">'
    below = f"<figcaption>{html.escape(caption)}</figcaption>" if caption else ""
    return f'<figure style="margin:0">{image}{below}</figure>'


def plot(variables: Sequence[tuple[Variable, Any]], options: Mapping[str, Any], progress: Any = None) -> Picture:
    """The picture of variables of one dataset, each with the index of what is drawn. The options are those of
    `Variable.plot`."""
    first = variables[0][0]
    wanted = []
    for variable, sel in variables:
        if variable.dataset is not first.dataset:
            raise InvalidError(
                f"{variable.path} is in {variable.dataset.url}: a picture has variables of one dataset",
                path=variable.path,
                object=variable.dataset.url,
            )
        wanted.append((variable._native(), indexing.resolve(sel, variable.shape).axes))
    compare = options.get("compare")
    words = {**options, "compare": None if compare is None else compare._opened()}
    with reporting(progress, "values") as report:
        return Picture(_ncirrus.plot(wanted, words, report))


def pictures(
    shown: Group, names: Iterable[str] | None, size: tuple[int, int], max_bytes: int | str
) -> PicturePage:
    """Small pictures of the named variables, or of those with a dimension, below a group."""
    found = _below(shown) if names is None else (_named(shown, name) for name in names)
    drawn: dict[str, Picture] = {}
    left_out: dict[str, str] = {}
    for variable in found:
        if names is None and _is_coordinate(variable):
            continue
        if len(drawn) == MAX_PICTURES:
            left_out[variable.path] = f"a page has at most {MAX_PICTURES} pictures: name the variable"
            continue
        try:
            drawn[variable.path] = plot([(variable, ...)], {"size": size, "max_bytes": max_bytes})
        except Error as error:
            left_out[variable.path] = str(error)
    return PicturePage(f"{shown.dataset.url} {shown.path}", drawn, left_out)


def _named(group: Group, name: str) -> Variable:
    found = group[name]
    # Imported when it is needed: a variable draws itself by this module.
    from ncirrus.variable import Variable

    if not isinstance(found, Variable):
        raise InvalidError(f"{found.path} is a group: a picture shows a variable", path=found.path, object=group.dataset.url)
    return found


def _below(group: Group) -> Iterator[Variable]:
    yield from group.variables.values()
    for inner in group.groups.values():
        yield from _below(inner)


def _is_coordinate(variable: Variable) -> bool:
    return not any(length > 1 for length in variable.shape) or variable.dims == (variable.name,)
