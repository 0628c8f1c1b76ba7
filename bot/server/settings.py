"""The server's environment to frozen settings; secrets come from variables or files, never flags.

A secret stays wrapped until it is used: printing or logging the settings shows none.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretBytes, SecretStr

from bot.approval.reasons import ApprovalRefused
from bot.errors import InputError
from bot.workflow.environment_key import EnvironmentKey

SECRET = "STRATWRIGHT_WEBHOOK_SECRET"  # noqa: S105 - the variable's name
APP = "STRATWRIGHT_APP_ID"
KEY = "STRATWRIGHT_APP_PRIVATE_KEY"
DEPLOY_KEY = "STRATWRIGHT_DEPLOY_PRIVATE_KEY"
MODEL_KEY = "ANTHROPIC_API_KEY"
SIGNING_KEY = "STRATWRIGHT_SIGNING_KEY"
MODEL_LIMIT = "STRATWRIGHT_MODEL_LIMIT_USD"
_SECRETS = (SECRET, KEY, DEPLOY_KEY, MODEL_KEY, SIGNING_KEY)
_APP = re.compile(r"[A-Za-z0-9.]{1,40}", re.ASCII)
_LEAST_SECRET = 16
_MOST_LIMIT_USD = 100_000
_PASSED_ON = re.compile(r"GIT_CONFIG_(COUNT|KEY_\d+|VALUE_\d+)|STRATWRIGHT_PACE")


@dataclass(frozen=True)
class ServerSettings:
    """What the server must know."""

    state: Path  # the folder of queue, clones and locks
    secrets: tuple[SecretBytes, ...]  # of the webhook; two while one replaces the other
    app: str  # the App's number or client id
    key: SecretStr  # the App's private key, PEM
    api_url: str = "https://api.github.com"
    server_url: str = "https://github.com"
    sandbox: str = "auto"
    passed_on: tuple[tuple[str, str], ...] = ()  # variables for the work itself
    deploy_key: SecretStr | None = None  # signs approvals; without it the server signs nothing
    model_key: SecretStr | None = None  # of the model that is asked; without it nobody is
    signing_key: SecretStr | None = None  # signs what that model answered
    model_limit_usd: float = 10.0  # of a day of all repositories, whatever their settings say


def read_server_settings(
    state: Path, sandbox: str = "auto", environment: Mapping[str, str] | None = None
) -> ServerSettings:
    """Read the environment.

    Raises:
        InputError: something is missing or not of its form; no message shows a secret.
    """
    variables = os.environ if environment is None else environment
    secrets = [line.strip() for line in _secret(variables, SECRET).splitlines() if line.strip()]
    if any(len(secret) < _LEAST_SECRET for secret in secrets):
        message = f"{SECRET} is shorter than {_LEAST_SECRET} characters"
        raise InputError(message, "Make one: openssl rand -hex 32; set it in the App as well.")
    app = variables.get(APP, "")
    if not _APP.fullmatch(app):
        raise InputError(f"{APP} is not set", "It is on the App's page: App ID, or Client ID.")
    key = _secret(variables, KEY)
    _check_key(key)
    return ServerSettings(
        state.resolve(),
        tuple(SecretBytes(secret.encode()) for secret in secrets),
        app,
        SecretStr(key),
        variables.get("GITHUB_API_URL") or "https://api.github.com",
        variables.get("GITHUB_SERVER_URL") or "https://github.com",
        sandbox,
        tuple((name, value) for name, value in variables.items() if _PASSED_ON.fullmatch(name)),
        _deploy_key(variables),
        _optional(variables, MODEL_KEY),
        _optional(variables, SIGNING_KEY),
        _limit(variables.get(MODEL_LIMIT) or "10"),
    )


def _limit(given: str) -> float:
    """Read what the server lets models cost on a day."""
    try:
        limit = float(given)
    except ValueError:
        limit = -1.0
    if not 0 <= limit <= _MOST_LIMIT_USD:
        raise InputError(f"{MODEL_LIMIT} is not an amount of US dollars", "Write it as 10 or 2.50.")
    return limit


def _optional(variables: Mapping[str, str], name: str) -> SecretStr | None:
    """Read a secret that the server can do without."""
    given = variables.get(name) or variables.get(f"{name}_FILE")
    return SecretStr(_secret(variables, name)) if given else None


def _deploy_key(variables: Mapping[str, str]) -> SecretStr | None:
    """Read the key that signs approvals, if there is one."""
    if not (variables.get(DEPLOY_KEY) or variables.get(f"{DEPLOY_KEY}_FILE")):
        return None
    key = SecretStr(_secret(variables, DEPLOY_KEY))
    try:
        EnvironmentKey(key).check()
    except ApprovalRefused as error:
        hint = "Make one: ssh-keygen -t ed25519 -N '' -f deploy-key"
        raise InputError(f"{DEPLOY_KEY}: {error.refusals[0].detail}", hint) from None
    return key


def hide_secrets() -> None:
    """Take the secrets out of the environment, so that no program started later inherits them."""
    for name in _SECRETS:
        os.environ.pop(name, None)


def _secret(variables: Mapping[str, str], name: str) -> str:
    """A secret by its variable, or by the file that `<name>_FILE` names."""
    path = variables.get(f"{name}_FILE", "")
    given = variables.get(name, "")
    if path and given:
        raise InputError(f"both {name} and {name}_FILE are set", "Keep one of them.")
    if path:
        try:
            given = Path(path).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise InputError(f"{name}_FILE cannot be read: {path}: {reason}") from None
    if not given.strip():
        raise InputError(
            f"{name} is not set",
            f"Set it, or {name}_FILE; `stratwright doctor --serve` lists what is missing.",
        )
    return given


def _check_key(pem: str) -> None:
    """Find a key that cannot sign now, and not with the first delivery."""
    try:
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError:
        raise InputError(
            "the extra `serve` is not installed", "Install it: pip install '.[serve]' in a checkout"
        ) from None
    try:
        good = isinstance(load_pem_private_key(pem.encode(), None), RSAPrivateKey)
    except (ValueError, TypeError):
        good = False
    if not good:
        hint = "Give the .pem that GitHub let you download, whole and without a passphrase."
        raise InputError(f"{KEY} is not an RSA private key in PEM", hint)
