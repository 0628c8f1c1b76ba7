"""A tag of another version to the answer of that version, from a wheel that the user trusts.

What a tag says about its maker is a stranger's word: it only chooses among the wheels of places
that the user named, and a wheel is taken only if its content has the digest that the tag names. Of
the wheel exactly that content is laid into an environment of its own, which is kept; what it needs
comes from the lock in it, by digest. So nothing is installed that the digest does not speak for:
not what the wheel's METADATA asks for, and no version of a tool that only the tag names. That
program answers; nothing here judges by the rules of another version.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from bot.errors import WorldError
from bot.files import cache_folder
from bot.git.lock import hold
from bot.git.repository import Repository
from bot.proof.findings import Finding, Outcome, Verification
from bot.proof.product import digest_of, read_wheel
from bot.proof.seal_check import Claim

VARIABLE = "STRATWRIGHT_WHEELS"
INDEX = "index"
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)*(\.?[a-z]+[0-9]+)?", re.ASCII)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)
_INSTALL_TIMEOUT_S = 900.0
_ANSWER_TIMEOUT_S = 1800.0
_MOST_BYTES = 10_000_000
_LOCK = "bot/locks/github.txt"
_START = "import sys; from bot.cli import main; sys.exit(main())"
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "XDG_CACHE_HOME", "DOCKER_HOST", "STRATWRIGHT_FREQTRADE")


def trusted_places(given: Iterable[str] | None) -> tuple[str, ...]:
    """The places of wheels that the user named, by option or else by environment."""
    named = list(given or os.environ.get(VARIABLE, "").split(os.pathsep))
    return tuple(place for place in named if place)


def verify_elsewhere(
    tag: str,
    claim: Claim,
    repository: Repository,
    places: tuple[str, ...],
    sandbox: str,
    say: Callable[[str], None],
) -> Verification:
    """Let the version that a tag names check it.

    Raises:
        WorldError: that version, or its tools, cannot be had here.
    """
    wanted = [claim.version, *claim.versions.values()]
    if not _DIGEST.fullmatch(claim.product) or not all(map(_is_version, wanted)):
        raise WorldError(f"the tag names a version that cannot exist: {wanted[0][:40]!a}")
    folder = _environment(claim, find_product(claim, places), say)
    say(f"asking stratwright {claim.version}, in {folder}")
    command = [str(folder / "bin" / "python"), "-I", "-c", _START, "verify", tag, "--json"]
    command += ["--repository", str(repository.root), "--here", "--sandbox", sandbox]
    found = _run(command, _ANSWER_TIMEOUT_S)
    return _read_answer(found, claim)


def _is_version(text: str) -> bool:
    return text == "not installed" or _NUMBER.fullmatch(text) is not None


def find_product(claim: Claim, places: tuple[str, ...]) -> Mapping[str, bytes]:
    """The files of a wheel with a claimed content, in a place that the user trusts.

    Raises:
        WorldError: there is none.
    """
    for place in places:
        folder = _downloaded(claim) if place == INDEX else Path(place)
        for wheel in sorted(folder.glob("stratwright-*.whl")):
            try:
                files = read_wheel(wheel)
            except ValueError:
                continue
            if digest_of(files) == claim.product:
                return files
    looked = f" in {', '.join(places)}" if places else ""
    raise WorldError(
        f"it was made by stratwright {claim.version} with the content {claim.product[:19]}..., or "
        f"with other tools than those here, and no wheel of that content is{looked or ' at hand'}",
        f"Name a folder of wheels that you trust, or index: --wheels DIR, or set {VARIABLE}.",
    )


def _downloaded(claim: Claim) -> Path:
    """What the package index has of a version; an empty folder if it has none."""
    folder = cache_folder() / "wheels" / claim.version
    if not any(folder.glob("*.whl")):
        folder.mkdir(parents=True, exist_ok=True)
        options = ("--no-deps", "--only-binary", ":all:", "--quiet", "--dest", str(folder))
        _pip(sys.executable, "download", *options, f"stratwright=={claim.version}")
    return folder


def _environment(claim: Claim, files: Mapping[str, bytes], say: Callable[[str], None]) -> Path:
    """An environment with a product and what the product's own lock names."""
    version = claim.versions.get("python", "")
    python = _python(version)
    _check_lock(claim, files.get(_LOCK, b"").decode("utf-8", "replace"))
    name = hashlib.sha256("\0".join((claim.product, version, python)).encode()).hexdigest()[:24]
    folder = cache_folder() / "versions" / name
    with hold(cache_folder() / "versions" / f"{name}.lock", str(folder), _INSTALL_TIMEOUT_S):
        if not (folder / "ready").exists():
            say(f"installing stratwright {claim.version} into {folder}, once")
            shutil.rmtree(folder, ignore_errors=True)
            _install(claim, files, python, folder)
            (folder / "ready").touch()
    return folder


def _check_lock(claim: Claim, lock: str) -> None:
    """Whether the lock has the tools at the versions that a tag names.

    Raises:
        WorldError: it has not; only versions that the product names by digest are installed.
    """
    pins = set(re.findall(r"^([a-z0-9-]+==[^\s;]+)", lock, re.ASCII | re.MULTILINE))
    tools = claim.versions.keys() - {"stratwright", "python", "freqtrade"}
    named = {f"{name.lower()}=={claim.versions[name]}" for name in tools}
    if missing := sorted(named - pins):
        raise WorldError(
            f"stratwright {claim.version} does not name {', '.join(missing)} in its lock",
            "It was made with tools of somebody's own choice: verify where they are installed.",
        )


def _install(claim: Claim, files: Mapping[str, bytes], python: str, folder: Path) -> None:
    """Make the environment: packages by digest, then the product's files and nothing else of it."""
    _run([python, "-m", "venv", str(folder)], _INSTALL_TIMEOUT_S)
    lock = folder / "lock.txt"
    lock.write_bytes(files[_LOCK])
    options = ("--quiet", "--require-hashes", "--no-deps", "--only-binary", ":all:")
    done = _pip(str(folder / "bin" / "python"), "install", *options, "-r", str(lock))
    if done.returncode:
        reason = " ".join(done.stderr.decode("utf-8", "replace").split())[-300:]
        raise WorldError(
            f"what stratwright {claim.version} needs cannot be installed: {reason}",
            "Check the network, or verify on a machine that has it.",
        )
    (packages,) = folder.glob("lib/python*/site-packages")
    for path, content in files.items():
        (packages / path).parent.mkdir(parents=True, exist_ok=True)
        (packages / path).write_bytes(content)


def _python(version: str) -> str:
    here = ".".join(map(str, sys.version_info[:3]))
    if version == here:
        return sys.executable
    named = shutil.which(f"python{'.'.join(version.split('.')[:2])}")
    if named:
        said = _run([named, "-c", "import platform; print(platform.python_version())"], 60.0)
        if said.stdout.decode("ascii", "replace").strip() == version:
            return named
    message = f"it was made with Python {version}, which is not here; here is {here}"
    raise WorldError(message, "Verify with that Python.")


def _pip(python: str, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    """Run pip with the user's own settings, as an index or a proxy."""
    command = [python, "-I", "-m", "pip", *arguments, "--disable-pip-version-check", "--no-input"]
    return _run(command, _INSTALL_TIMEOUT_S, os.environ)


def _run(
    command: list[str], timeout_s: float, environment: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[bytes]":
    known = {key: value for key, value in os.environ.items() if key in _KEPT}
    try:
        return subprocess.run(  # noqa: S603 - programs of the user's own choice
            command,
            env=dict(environment or known),
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=timeout_s,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WorldError(f"{command[0]} did not answer: {error}") from None


def _read_answer(found: "subprocess.CompletedProcess[bytes]", claim: Claim) -> Verification:
    """Read what the other version answered, strictly.

    Raises:
        WorldError: it answered nothing of this form, as versions before it was agreed do.
    """
    said = found.stdout[:_MOST_BYTES]
    try:
        answer = json.loads(said)
        if answer["product"] != claim.product:
            raise ValueError("it is another product")
        findings = tuple(
            Finding(str(each["name"]), Outcome(each["outcome"]), str(each["detail"]))
            for each in answer["checks"]
        )
        left = tuple(str(each) for each in answer["left_out"])
        read = Verification(findings, left)
        if (read.outcome, read.exit_code) != (answer["outcome"], found.returncode):
            raise ValueError("its parts do not agree")
        if not findings:
            raise ValueError("it checked nothing")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise WorldError(
            f"stratwright {claim.version} gave no answer that can be used: {error}",
            f"Ask it yourself; it ended with {found.returncode}.",
        ) from None
    note = Finding("asked", Outcome.HOLDS, f"stratwright {claim.version}, {claim.product[:19]}...")
    return Verification((note, *read.findings), read.left_out)
