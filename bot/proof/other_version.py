"""A tag of another version to the answer of that version, from a wheel that the user trusts.

What a tag says about its maker is a stranger's word: it only chooses among the wheels of places
that the user named, and a wheel is taken only if its content has the digest that the tag names. It
is installed with the tools at the versions that the tag names into an environment of its own, which
is kept. That program answers; nothing here judges by the rules of another version.
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
from bot.proof.evidence import TOOLS
from bot.proof.product import wheel_digest
from bot.proof.verification import Claim, Finding, Outcome, Verification

VARIABLE = "STRATWRIGHT_WHEELS"
INDEX = "index"
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)*(\.?[a-z]+[0-9]+)?", re.ASCII)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)
_INSTALL_TIMEOUT_S = 900.0
_ANSWER_TIMEOUT_S = 1800.0
_MOST_BYTES = 10_000_000
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
    wheel = find_wheel(claim, places)
    program = _environment(claim, wheel, say) / "bin" / "stratwright"
    say(f"asking stratwright {claim.version}, in {program.parents[1]}")
    command = [str(program), "verify", tag, "--repository", str(repository.root), "--json"]
    command += ["--here", "--sandbox", sandbox]
    found = _run(command, _ANSWER_TIMEOUT_S)
    return _read_answer(found, claim)


def _is_version(text: str) -> bool:
    return text == "not installed" or _NUMBER.fullmatch(text) is not None


def find_wheel(claim: Claim, places: tuple[str, ...]) -> Path:
    """The wheel with a claimed content, in a place that the user trusts.

    Raises:
        WorldError: there is none.
    """
    for place in places:
        folder = _downloaded(claim) if place == INDEX else Path(place)
        for wheel in sorted(folder.glob("stratwright-*.whl")):
            try:
                if wheel_digest(wheel) == claim.product:
                    return wheel.resolve()
            except ValueError:
                continue
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


def _environment(claim: Claim, wheel: Path, say: Callable[[str], None]) -> Path:
    """An environment with a wheel and the tools at the versions that a tag names."""
    python = _python(claim.versions.get("python", ""))
    pins = sorted(
        f"{name}=={claim.versions[name]}"
        for name in TOOLS
        if claim.versions.get(name, "not installed") != "not installed"
    )
    text = "\0".join((claim.product, python, *pins))
    name = hashlib.sha256(text.encode()).hexdigest()[:24]
    folder = cache_folder() / "versions" / name
    with hold(cache_folder() / "versions" / f"{name}.lock", str(wheel), _INSTALL_TIMEOUT_S):
        if (folder / "ready").exists():
            return folder
        say(f"installing stratwright {claim.version} into {folder}, once")
        shutil.rmtree(folder, ignore_errors=True)
        _run([python, "-m", "venv", str(folder)], _INSTALL_TIMEOUT_S)
        own = str(folder / "bin" / "python")
        options = ("--quiet", "--only-binary", ":all:")
        done = _pip(own, "install", *options, str(wheel), *pins)
        if done.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            reason = " ".join(done.stderr.decode("utf-8", "replace").split())[-300:]
            raise WorldError(
                f"stratwright {claim.version} cannot be installed with {', '.join(pins)}: {reason}",
                "Check the network, or verify on a machine that has them.",
            )
        (folder / "ready").touch()
    return folder


def _python(version: str) -> str:
    """The interpreter of a version."""
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
