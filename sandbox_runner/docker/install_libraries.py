"""Turns a base image with Python into the sandbox's: libraries, bytecode, the user `runner`.

Runs while the image is built, as a script and without anything of ours beside it.
"""

import compileall
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

_APP = Path("/app")
_USER = "runner:x:10001:10001:runner:/tmp:/nonexistent\n"
_GROUP = "runner:x:10001:\n"
# Reading the types of these takes mypy 10 s, reading its cache of them 1 s. The trusted side has a
# cache too, but of its own paths: with that one mypy looks at every file again.
_TYPED = ("numpy", "pandas", "talib", "pytest", "hypothesis")
_MYPY_CACHE = "/usr/local/share/stratwright/mypy"  # as in type_check.py
# Where each job's mounts go, and their modes: a tmpfs takes the mode of the folder below it.
_FOLDERS = {"/job": 0o755, "/packages": 0o755, "/shared": 0o755, "/out": 0o1777, "/tmp": 0o1777}  # noqa: S108


def main() -> None:
    """Install what is not there yet, compile it, read its types, name the user."""
    requirements = _APP / "requirements.txt"
    if not _installed(requirements):
        _install(requirements)
    # Without bytecode the first `import pandas` of every container would cost 4 s.
    for scheme in ("stdlib", "purelib", "platlib"):
        compileall.compile_dir(sysconfig.get_path(scheme), quiet=2, workers=0)
    _try_libraries()
    _read_types()
    _add(Path("/etc/passwd"), _USER)
    _add(Path("/etc/group"), _GROUP)
    for folder, mode in _FOLDERS.items():
        Path(folder).mkdir(exist_ok=True)
        Path(folder).chmod(mode)


def _installed(requirements: Path) -> bool:
    """Says whether every line is pinned and holds already: then the base brought the libraries."""
    lines = requirements.read_text("utf-8").splitlines()
    pins = [line.split("==") for line in lines if line.strip() and not line.startswith("#")]
    try:
        return all(
            len(pin) == 2 and metadata.version(pin[0].strip()) == pin[1].strip() for pin in pins
        )
    except metadata.PackageNotFoundError:
        return False


def _install(requirements: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--no-cache-dir", "--no-compile"]
    command += ["--disable-pip-version-check", "--requirement", str(requirements)]
    if any(_APP.glob("*.whl")):
        command += ["--no-index", "--find-links", str(_APP)]
    subprocess.run(command, check=True)  # noqa: S603 - our own arguments


def _try_libraries() -> None:
    """A base without a shared library that one of them loads is found now, not by a job."""
    code = "; ".join(f"import {name}" for name in _TYPED)
    subprocess.run([sys.executable, "-I", "-c", code], check=True)  # noqa: S603


def _read_types() -> None:
    lines = "\n".join(f"import {name}" for name in _TYPED)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file="]
    command += [f"--cache-dir={_MYPY_CACHE}", "-c", lines]
    # Missing stubs of one library make an error line, not an empty cache.
    subprocess.run(command, check=False, cwd="/", stdout=subprocess.DEVNULL)  # noqa: S603
    for path in (Path(_MYPY_CACHE), *Path(_MYPY_CACHE).rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _add(file: Path, line: str) -> None:
    text = file.read_text("utf-8") if file.exists() else ""
    if line not in text:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text + line, "utf-8")


if __name__ == "__main__":
    main()
