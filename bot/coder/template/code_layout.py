"""Turns nested code into lines that fit; only what is too long is broken."""

from dataclasses import dataclass

WIDTH = 100


@dataclass(frozen=True)
class Group:
    """Parts between brackets, joined by commas (a call) or by an operator (a chain)."""

    opening: str  # what stands before the parts, `(` or `series.mean(`
    parts: tuple["Code", ...]  # the parts
    joint: str = ", "  # `, ` for a call; ` & `, ` < ` and the like for a chain

    @property
    def is_chain(self) -> bool:
        """Tells whether this is a chain, whose brackets the outermost place can do without."""
        return self.joint != ", "


Code = str | Group


def flat(code: Code) -> str:
    """Writes the code on one line."""
    if isinstance(code, str):
        return code
    show = flat if code.is_chain else bare
    return f"{code.opening}{code.joint.join(map(show, code.parts))})"


def bare(code: Code) -> str:
    """Writes the code on one line, without brackets that only an operator beside it needs."""
    text = flat(code)
    if isinstance(code, Group) and code.is_chain and code.opening == "(":
        return text[1:-1]
    return text


def statement(start: str, code: Code, indent: int, end: str = "", width: int = WIDTH) -> str:
    """Writes a statement such as `start` + code + `end`, over several lines if one is too long."""
    pad = " " * indent
    text = bare(code)
    if indent + len(start) + len(text) + len(end) <= width:
        return f"{pad}{start}{text}{end}"
    return f"{pad}{start}{_broken(code, indent, len(start), len(end), width)}{end}"


def _broken(code: Code, indent: int, before: int, after: int, width: int) -> str:
    """Writes the code with its outermost group broken, if it does not fit."""
    if isinstance(code, str) or indent + before + len(flat(code)) + after <= width:
        return flat(code)
    pad = " " * (indent + 4)
    lines = []
    for place, part in enumerate(code.parts):
        if code.is_chain:
            sign = f"{code.joint.strip()} " if place else ""
            lines.append(f"{pad}{sign}{_broken(part, indent + 4, len(sign), 0, width)}")
        else:
            text = bare(part)
            fits = indent + 4 + len(text) + 1 <= width
            lines.append(f"{pad}{text if fits else _broken(part, indent + 4, 0, 1, width)},")
    return "\n".join([code.opening, *lines, " " * indent + ")"])


def import_line(module: str, names: list[str]) -> str:
    """Writes an import, classes before functions as import sorters have it."""
    ordered = sorted(names, key=lambda name: (name[0].islower(), name))
    line = f"from {module} import {', '.join(ordered)}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"from {module} import (", *(f"    {name}," for name in ordered), ")"])
