"""Text from anywhere to text that can be shown: no secrets, nothing that a terminal or CI obeys."""

import os
import re
from collections.abc import Iterable, Mapping

HIDDEN = "[redacted]"
# Patterns are texts: re compiles them when they are first asked for, which most commands never do.
_SENSITIVE = (
    r"(?i)(?:^|[_\-.])(?:api_?-?key|apikey|secret|token|passw(?:or)?d|passphrase|private_?key"
    r"|access_?key|credentials?|authorization|auth)(?:$|[_\-.])"
)
_NO_SECRETS = frozenset({"approval_token"})  # a label, and part of every approval
_PATTERNS = (
    # Whole keys of known make: GitHub, Anthropic and OpenAI, AWS, Slack, Google, JSON Web Tokens.
    r"\bgh[pousr]_[A-Za-z0-9]{16,}|\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bsk-[A-Za-z0-9_-]{16,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    r"\bxox[a-z]-[A-Za-z0-9-]{10,}",
    r"\bAIza[A-Za-z0-9_-]{30,}",
    r"\bglpat-[A-Za-z0-9_-]{16,}",
    r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
)
_BEARER = r"(?i)\b(Bearer|Basic|token)(\s+)[A-Za-z0-9._~+/=-]{8,}"
_ADDRESS = r"(?<=://)[^/\s:@]*:[^/\s@]+(?=@)|(?<=://)[^/\s:@]{16,}(?=@)"
_ASSIGNED = r"""(?ix)
    \b([a-z0-9_.-]*(?:api_?key|secret|token|passw(?:or)?d|passphrase|private_?key|access_?key))
    (["']?\s*[:=]\s*["']?)([^\s"',;&}]{4,})"""
# Everything that moves a cursor, hides or turns text; line ends and tabs are for the caller.
_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"


def known_secrets(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The values of variables that are secrets by their name, longest first."""
    variables = os.environ if environment is None else environment
    values = {value for name, value in variables.items() if is_secret_name(name)}
    return tuple(sorted((value for value in values if len(value) >= 8), key=len, reverse=True))


def is_secret_name(name: str) -> bool:
    """Whether a field or variable holds a secret, by its name."""
    return name.lower() not in _NO_SECRETS and bool(re.search(_SENSITIVE, name))


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Replace secrets: those given, and whatever looks like one."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    for pattern in _PATTERNS:
        text = re.sub(pattern, HIDDEN, text)
    text = re.sub(_BEARER, rf"\1\2{HIDDEN}", text)
    text = re.sub(_ADDRESS, HIDDEN, text)
    return re.sub(_ASSIGNED, _hide_assigned, text)


def redact_all(value: object, secrets: Iterable[str] = ()) -> object:
    """Replace secrets in every text of a JSON value; its form stays whole."""
    known = tuple(secrets)
    if isinstance(value, str):
        return redact(value, known)
    if isinstance(value, Mapping):
        return {
            redact(str(key), known): HIDDEN
            if isinstance(part, str) and is_secret_name(str(key))
            else redact_all(part, known)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact_all(part, known) for part in value]
    return value


def inert(text: str) -> str:
    """Make control characters visible and workflow commands harmless, for terminals and CI."""
    shown = re.sub(_CONTROL, lambda match: f"\\x{ord(match[0]):02x}", text.replace("\r\n", "\n"))
    # GitHub obeys `::name::` at the start of a line and `##[name]` anywhere.
    shown = re.sub(r"(?m)^(\s*):(?=:)", r"\1\\x3a", shown)
    return shown.replace("##[", "#\\x23[")


def _hide_assigned(match: "re.Match[str]") -> str:
    name, between, value = match.groups()
    if name.lower() in _NO_SECRETS or value == HIDDEN:
        return match[0]
    return f"{name}{between}{HIDDEN}"
