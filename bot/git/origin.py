"""A remote's address to the repository's name on its host."""

import re
from urllib.parse import urlsplit

_SCP = re.compile(r"(?:[^@/:]+@)?([^/:]+):(?!//)(.+)")


def owner_and_name(url: str) -> str | None:
    """Read `owner/name` from an address; None where there is no host that gives out such names.

    A path on this machine names a folder, not an owner: it would give the same repository another
    name on every machine.
    """
    if "://" in url:
        parts = urlsplit(url)
        if parts.scheme == "file" or not parts.hostname:
            return None
        path = parts.path
    else:
        found = _SCP.fullmatch(url)
        if not found:
            return None
        path = found[2]
    name = path.strip("/").removesuffix(".git").strip("/")
    return name if "/" in name else None
