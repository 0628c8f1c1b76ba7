"""Checks names of files and identifiers: none leaves the repository, none hides a module."""

import keyword
import re
import sys
from pathlib import PurePosixPath

from bot.contract.fields import Checked, check_pascal, wrong

# Where generated files lie; a Contract says the names of its own.
CODES_FOLDER = "Backtest/codes"
FREQTRADE_FOLDER = "Backtest/freqtrade"
TESTS_FOLDER = "tests"
ID = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
ID_WORDS = "a-z, 0-9 and inner hyphens, at most 63 characters"
_OURS = (
    "adapters",
    "backtest",
    "bot",
    "brain",
    "contracts",
    "integration",
    "sandbox_runner",
    "tools",
    "benchmarks",
    "strategy_template_adapter_driven",
)
_THEIRS = ("numpy", "pandas", "talib", "ccxt", "freqtrade", "technical", "pytest", "hypothesis",
           "pydantic", "yaml", "git", "github", "docker", "redis", "optuna", "ray", "numba",
           "vectorbt", "pandas_ta", "anthropic", "mcp", "dateutil", "pytz", "six", "conftest",
           "setup", "scipy", "requests", "pip", "setuptools", "attr", "attrs", "jinja2",
           "strategies", "strategy", "tests", "polars", "pyarrow", "bottleneck", "numexpr",
           "tzdata", "typing_extensions", "pluggy", "mypy", "flake8", "bandit")  # fmt: skip
MODULES = sys.stdlib_module_names | frozenset(_OURS) | frozenset(_THEIRS)
# Names that the generated Freqtrade file imports; a class of that name would hide them.
_IMPORTED = ("DataFrame", "DecimalParameter", "IStrategy", "IntParameter", "Order", "Series",
             "Strategy", "Trade", "BaseAdapter")  # fmt: skip


def file_stem(name: str) -> str:
    """Turn OversoldDip into oversold_dip."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return spaced.lower()


def check_name(value: object) -> str:
    """Take a strategy's name whose file hides no module."""
    name = check_pascal(value)
    stem = file_stem(name)
    if stem in MODULES or keyword.iskeyword(stem):
        raise wrong(
            f"its file {stem}.py would hide the Python module {stem}",
            allowed="another name",
            near=f"{name}Strategy",
        )
    if name in _IMPORTED:
        raise wrong(
            f"{name} is the name of a class that strategies use",
            allowed="another name",
            near=f"My{name}",
        )
    return name


def guess_id(value: str) -> str:
    """Repair an identifier: Oversold Dip becomes oversold-dip."""
    return re.sub(r"[^a-z0-9]+", "-", value.lower()).strip("-") if value.isascii() else ""


def check_path(value: object) -> str:
    """Take a path that stays inside the repository."""
    if not isinstance(value, str):
        raise wrong("expected a path", value)
    fault = _path_fault(value)
    if fault:
        raise wrong(fault, value, allowed="a path inside the repository, as data/candles.csv")
    return value


def check_code_path(value: object) -> str:
    """Take the path of a file that a coder may write."""
    path = check_path(value)
    if any(part.startswith(".") for part in path.split("/")):
        raise wrong("hidden files and folders are not written by a coder", path)
    if not re.fullmatch(r"[A-Za-z0-9_./-]+", path, re.ASCII):
        raise wrong("only letters, digits and _ - . / are allowed in a path", path)
    return path


def _path_fault(value: str) -> str:
    if not value or len(value) > 255:
        return "a path has 1 to 255 characters"
    if not value.isprintable() or value != value.strip():
        return "the path has control characters, or spaces at its ends"
    if "\\" in value:
        return "write / instead of a backslash"
    if value.startswith(("/", "~")) or re.match(r"[A-Za-z]:", value):
        return "the path is absolute"
    if ":" in value:
        return "a path has no colon"
    parts = value.split("/")
    if ".." in parts:
        return "the path leaves its folder with .."
    if "" in parts or "." in parts:
        return "the path has an empty part"
    if any(part.lower() == ".git" for part in parts):
        return "Git's own folder is out of bounds"
    if re.search(r"[{}]", value.replace("{symbol}", "")):
        return "{symbol} is the only placeholder of a path"
    return ""


def suffix(path: str) -> str:
    """Give a path's suffix in lower case."""
    return PurePosixPath(path).suffix.lower()


PATH_SCHEMA: dict[str, object] = {
    "type": "string",
    "maxLength": 255,
    "pattern": r"^(?![/~])(?!.*(?:^|/)\.\.(?:/|$))[^\\:]+$",
}
INNER_PATH = Checked(check_path, PATH_SCHEMA)
CODE_PATH = Checked(check_code_path, PATH_SCHEMA)
STRATEGY_NAME = Checked(check_name, {"type": "string", "pattern": "^[A-Z][A-Za-z0-9]{0,63}$"})
