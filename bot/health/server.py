"""The server's environment and its App on GitHub to what is there and what is missing."""

from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from bot.errors import InputError, StratwrightError
from bot.health.machine import Finding

_PACKAGES = ("fastapi", "uvicorn", "PyGithub", "prometheus-client")
_EVENTS = ("push", "issues", "issue_comment")
_INSTALL = "pip install '.[serve]' in a checkout"


def examine_server(environment: Mapping[str, str] | None = None) -> tuple[Finding, ...]:
    """Look at everything that `serve` needs, and ask GitHub about the App."""
    packages = tuple(_packages())
    if not all(finding.well for finding in packages):
        return packages
    from bot.server.settings import read_server_settings
    from bot.server.tokens import Tokens

    try:
        settings = read_server_settings(Path(), environment=environment)
    except InputError as error:
        return (*packages, Finding("serve settings", False, error.message, error.hint))
    count = len(settings.secrets)
    detail = f"App {settings.app}, a key, {count} webhook secret{'' if count == 1 else 's'}"
    known = Finding("serve settings", True, detail)
    pace = float(dict(settings.passed_on).get("STRATWRIGHT_PACE", "1"))
    tokens = Tokens(settings.app, settings.key, settings.api_url, pace=pace)
    try:
        app, places = tokens.describe()
    except StratwrightError as error:
        return (*packages, known, Finding("app", False, error.message, error.hint))
    return (*packages, known, *_app(app), _installed(places))


def _packages() -> Iterator[Finding]:
    for name in _PACKAGES:
        try:
            yield Finding(name, True, f"{metadata.version(name)}  (for serve)")
        except metadata.PackageNotFoundError:
            yield Finding(name, False, "for serve", _INSTALL)


def _app(app: Mapping[str, Any]) -> Iterator[Finding]:
    from bot.server.tokens import PERMISSIONS

    granted, events = app.get("permissions") or {}, app.get("events") or []
    page = f"{app.get('html_url', 'the App')} > App settings > Permissions & events"
    yield Finding("app", True, f"{app['slug']}[bot]")
    missing = [name for name, level in PERMISSIONS.items() if granted.get(name) != level]
    detail = f"lacks write to {', '.join(missing)}" if missing else "as needed"
    yield Finding("app permissions", not missing, detail, f"{page}; then accept them anew.")
    deaf = [name for name in _EVENTS if name not in events]
    detail = f"not subscribed to {', '.join(deaf)}" if deaf else ", ".join(_EVENTS)
    yield Finding("app events", not deaf, detail, page)


def _installed(places: int) -> Finding:
    hint = "Install it in the repositories: the App's page > Install App."
    detail = f"in {places} account{'' if places == 1 else 's'}"
    return Finding("app installed", places > 0, detail, hint, needed=False)
