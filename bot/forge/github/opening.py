"""Opens the forge on GitHub from the environment of a workflow, or of a person with a token."""

import base64
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.errors import InputError
from bot.settings import Settings, read_settings

if TYPE_CHECKING:
    from bot.forge.github.pulls import GitHubForge
    from bot.git.repository import Repository

_NAME = re.compile(r"(?!\.{1,2}/)[A-Za-z0-9._-]{1,100}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}", re.ASCII)


def open_github(
    repository: "Repository | None" = None,
    settings: Settings | None = None,
    environment: Mapping[str, str] | None = None,
) -> "GitHubForge":
    """Open the repository's forge on GitHub; its settings are read from its checkout if not given.

    `environment` has GITHUB_TOKEN, GITHUB_API_URL, GITHUB_SERVER_URL, and GITHUB_REPOSITORY, in
    whose place the repository's origin may stand.

    Raises:
        InputError: there is no token, no name, or PyGithub is not installed.
    """
    variables = os.environ if environment is None else environment
    token = variables.get("GITHUB_TOKEN") or variables.get("GH_TOKEN") or ""
    if not token:
        raise InputError("there is no token for GitHub", "Set GITHUB_TOKEN.")
    name = variables.get("GITHUB_REPOSITORY") or (repository.repository_id if repository else "")
    if not _NAME.fullmatch(name):
        message = f"{name!r} is not a repository on GitHub"
        raise InputError(message, "Set GITHUB_REPOSITORY to owner/name, or add it as origin.")
    try:
        from bot.forge.github.api import GitHubApi
        from bot.forge.github.pulls import GitHubForge
    except ImportError:
        raise InputError("PyGithub is not installed", "Install it: pip install PyGithub") from None
    found = settings or (read_settings(repository.root) if repository else Settings())
    api = GitHubApi(
        name,
        token,
        variables.get("GITHUB_API_URL") or "https://api.github.com",
        pace=_pace(variables),
    )
    return GitHubForge(api, found, variables.get("GITHUB_SERVER_URL") or "https://github.com")


def git_credentials(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Variables that let Git push with the token to GitHub's server and nowhere else.

    The checkout keeps no credentials, and the token is on no command line and in no file: Git
    reads the header from its own environment, behind whatever settings are there already.
    """
    variables = os.environ if environment is None else environment
    token, server = variables.get("GITHUB_TOKEN", ""), variables.get("GITHUB_SERVER_URL", "")
    parts = urlsplit(server or "https://github.com")
    if not token or parts.scheme not in ("http", "https") or not parts.netloc:
        return {}
    secret = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    given = variables.get("GIT_CONFIG_COUNT", "0")
    count = int(given) if given.isdecimal() else 0
    return {
        "GIT_CONFIG_COUNT": str(count + 1),
        f"GIT_CONFIG_KEY_{count}": f"http.{parts.scheme}://{parts.netloc}/.extraheader",
        f"GIT_CONFIG_VALUE_{count}": f"AUTHORIZATION: basic {secret}",
        "GIT_TRACE": "0",
        "GIT_TRACE_CURL": "0",
        "GIT_CURL_VERBOSE": "0",
    }


def _pace(variables: Mapping[str, str]) -> float:
    """Seconds between writes and the unit of back-off: 1 on GitHub, less against a test server."""
    given = variables.get("STRATWRIGHT_PACE", "")
    return float(given) if re.fullmatch(r"[0-9](\.[0-9]{1,3})?", given, re.ASCII) else 1.0
