"""The host's own file to what protects live: whose signatures it takes, and how many it needs."""

import shutil
from pathlib import Path

from bot.approval.host import host_path, read_host
from bot.errors import MANUAL, StratwrightError
from bot.health.machine import Finding


def examine_approval(root: Path) -> Finding:
    """Say which gate is in force for a repository on this machine; `run` needs none."""
    path = host_path()
    if not path.exists():
        detail = "nothing can be approved or started here: this machine has no host's file"
        hint = f"To approve or to trade here, write {path} ({MANUAL}/approval.md)."
        return Finding("approval", False, detail, hint, needed=False)
    try:
        host = read_host(path, root)
    except StratwrightError as error:
        return Finding("approval", False, error.message, error.hint, needed=False)
    machines = {*host.file.machines}
    people = {name for line in host.signers.lines for name in line.principals} - machines
    least, live = host.floor.live.people, host.file.environment == "live"
    detail = (
        f"{host.file.host} ({host.file.environment}): signatures of people's own keys; "
        f"{len(people)} may sign, live needs {least} or more"
    )
    if shutil.which("ssh-keygen") is None:
        return Finding("approval", False, detail, "Install OpenSSH's client.", needed=False)
    enough = len(people) >= least or not live
    hint = "" if enough else f"Only {len(people)} of {least} are in {host.file.allowed_signers}."
    return Finding("approval", enough, detail, hint, needed=False)
