"""Tells which texts may come to read "now" or "today", and what makes texts of other values."""

import ast
import re

CLOCK_WORDS = ("now", "today")
# A dtype whose texts are cut to a length, or whose numbers become letters.
_SIZED = re.compile(r"[<>=|]?[USVaO].*|str.*|bytes.*|object.*|unicode.*|char.*", re.DOTALL)
# Methods of frames, series and arrays that put the texts in them together.
JOINING = {
    "accumulate", "add", "add_prefix", "add_suffix", "agg", "aggregate", "apply", "astype", "cat",
    "combine", "cumsum", "dot", "join", "map", "mul", "multiply", "prod", "radd", "reduce",
    "reduceat", "replace", "rmul", "sum", "transform", "nansum",
}  # fmt: skip
# What they give is a number or a flag, whatever they are asked about.
COUNTING = {
    "all", "any", "contains", "corr", "count", "cov", "codes", "diff", "empty", "endswith", "eq",
    "find", "fullmatch", "get_indexer", "get_loc", "index", "isin", "isna",
    "isnull", "kurt", "len", "match", "mean", "median", "ne", "ndim", "notna", "notnull", "nunique",
    "pct_change", "quantile", "rank", "rfind", "rindex", "sem", "shape", "size", "skew",
    "startswith", "std", "var",
} | {name for name in dir(str) if name.startswith("is")}  # fmt: skip
# What they give is a text.
SPELLING = {"ctime", "day_name", "hex", "isoformat", "month_name", "strftime", "tzname"}
# What they give is a text of bytes or numbers, which nobody has written.
DECODING = {"decode", "to_bytes", "tobytes", "tostring"}
# Labels of a frame as values of it.
LABELS = {"columns", "keys", "melt"}
# They give one of the values that they are given.
CHOOSING = {"choice", "choices", "combine_first", "fillna", "get", "mask", "sample", "where"}
RELABELLING = {"rename", "rename_axis", "rename_categories", "set_axis"}
# They keep the texts that they are given.
KEEPING_TEXTS = {
    "numpy.append", "numpy.array", "numpy.asarray", "numpy.choose", "numpy.concatenate",
    "numpy.full", "numpy.full_like", "numpy.hstack", "numpy.insert", "numpy.repeat",
    "numpy.select", "numpy.stack", "numpy.tile", "numpy.vstack", "numpy.where",
    "pandas.Categorical", "pandas.DataFrame", "pandas.Index", "pandas.MultiIndex", "pandas.Series",
    "pandas.array", "pandas.concat",
}  # fmt: skip


def speaks(text: object) -> bool:
    """Tell whether no text with this part in it can be a word of the clock."""
    part = _written(text)
    return bool(part) and not any(part in word for word in CLOCK_WORDS)


def is_piece(text: object) -> bool:
    """Tell whether a text is a word of the clock, or a part of one."""
    return bool(_written(text)) and not speaks(text)


def _written(text: object) -> str:
    whole = text.decode("latin-1") if isinstance(text, bytes) else str(text)
    return re.sub(r"%[-+ #0]*[\d.]*[a-zA-Z]|{[^{}]*}", "", whole).strip("\0").lower()


def speaks_anywhere(node: ast.AST) -> bool:
    """Tell whether a text has a written part that keeps it from being a word of the clock."""
    match node:
        case ast.Constant(value=str(text) | bytes(text)):
            return speaks(text)
        case ast.JoinedStr(values=parts):
            return any(speaks_anywhere(part) for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return speaks_anywhere(left) or speaks_anywhere(right)
        case ast.BinOp(left=left, op=ast.Mod()):
            return speaks_anywhere(left)
        case ast.Call(func=ast.Attribute(value=ast.Constant() as template, attr="format")):
            return speaks_anywhere(template)
    return False


def is_clock_word(node: ast.AST | None) -> bool:
    """Tell whether a text is written out that pandas or numpy reads as the wall clock."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, (str, bytes)):
        return False
    return _written(node.value) in CLOCK_WORDS


def spells_letters(spec: ast.expr | None) -> bool:
    """Tell whether a format may turn a number into a letter."""
    match spec:
        case None:
            return False
        case ast.JoinedStr(values=[ast.Constant(value=str(text))]) | ast.Constant(value=str(text)):
            return text.endswith("c")
    return True


def is_of_texts(dtype: ast.expr) -> bool:
    """Tell whether a dtype may be one of texts; one that is not written out may be."""
    match dtype:
        case ast.Constant(value=str(name)):
            return _SIZED.fullmatch(name) is not None
        case ast.Name(id=name) | ast.Attribute(attr=name):
            known = re.fullmatch(r"(u?int|float|complex|bool|datetime|timedelta)\w*", name)
            return known is None
    return True
