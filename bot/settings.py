"""`stratwright.yml` to frozen settings; a key that nobody knows is refused.

The file is read from the base branch, never from a candidate's.
"""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from bot.errors import InputError

FILE = "stratwright.yml"
WORKFLOW = ".github/workflows/stratwright.yml"
FORM = ".github/ISSUE_TEMPLATE/strategy.yml"
MOST_BYTES = 64_000

_HINT = "Compare it with the stratwright.yml that `stratwright init` writes."


def _folder(given: str) -> str:
    """A folder's path as Git lists it."""
    folder = given.rstrip("/")
    if any(part in ("", ".", "..") for part in folder.split("/")):
        raise ValueError("give a folder below the repository, as contracts or quant/contracts")
    return folder


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class PullRequests(_Part):
    """How pull requests are opened."""

    draft: bool = False
    labels: tuple[str, ...] = ("stratwright",)


class Committer(_Part):
    """Who commits, where Git's own configuration names nobody."""

    name: str = Field("github-actions[bot]", min_length=1, max_length=100, pattern=r"^[^<>\n]+$")
    email: str = Field(
        "41898282+github-actions[bot]@users.noreply.github.com",
        min_length=3,
        max_length=200,
        pattern=r"^[^<>\s]+@[^<>\s]+$",
    )


class Settings(_Part):
    """What a repository says about its bot.

    Attributes:
        version: of this file's form.
        contracts: the folder of contracts.
        label: on an issue it asks for a strategy.
        bot: the login under which the bot writes, where the token does not tell.
        freqtrade: whether the workflow installs Freqtrade in the job that runs code, and so proves
            and delivers the target freqtrade where a contract asks for it.
        require_targets: whether a target that cannot be proven stops the line, instead of being
            left out.
    """

    version: Literal["1.0"] = "1.0"
    contracts: Annotated[str, AfterValidator(_folder)] = Field(
        "contracts", pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./-]{0,99}$"
    )
    label: str = Field("stratwright", min_length=1, max_length=50)
    bot: str = Field("github-actions[bot]", pattern=r"^[A-Za-z0-9-]{1,39}(\[bot\])?$")
    freqtrade: bool = False
    require_targets: bool = False
    pull_requests: PullRequests = PullRequests()
    committer: Committer = Committer()


def parse_settings(data: bytes | None, name: str = FILE) -> Settings:
    """Read the settings; no file means the defaults.

    Raises:
        InputError: the file is not YAML, or says something unknown.
    """
    if data is None:
        return Settings()
    try:
        if len(data) > MOST_BYTES:
            raise InputError(f"{name} is larger than {MOST_BYTES} bytes")
        text = data.decode("utf-8")
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)):
            raise InputError(f"{name} has an alias", "Write the value out.")
        found: Any = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"{name} is not YAML: {reason}",
            _HINT,
        ) from None
    if found is None:
        return Settings()
    if not isinstance(found, dict):
        message = f"{name} is not a mapping of keys to values"
        raise InputError(message, _HINT)
    try:
        _refuse_odd_keys(found)
        # As JSON: strict about types, and a list is a list in both.
        return Settings.model_validate_json(json.dumps(found, default=str))
    except TypeError as error:
        raise InputError(f"{name}: {error}", "Compare it with docs/github.md.") from None
    except ValidationError as error:
        lines = [
            f"{name}: {'.'.join(map(str, each['loc']))}: {each['msg']}"
            for each in error.errors()[:20]
        ]
        raise InputError("\n".join(lines), _HINT) from None


def _refuse_odd_keys(value: object) -> None:
    """Stop at a key that is no text: YAML reads 2024-01-01 as a day, and yes as true."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {str(key)[:60]!r} is no text")
            _refuse_odd_keys(item)
    elif isinstance(value, list):
        for item in value:
            _refuse_odd_keys(item)


def read_settings(root: Path) -> Settings:
    """Read the settings of a checkout."""
    try:
        return parse_settings((root / FILE).read_bytes())
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise InputError(f"{FILE} cannot be read: {error.strerror}") from None
