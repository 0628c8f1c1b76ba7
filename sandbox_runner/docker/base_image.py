"""Turns this machine's Python and some of its libraries into a root file system, as a tar stream.

It stands for `python:3.11-slim` where no image can be pulled: the interpreter, the standard
library, the installed distributions by name, and the shared libraries that all of these load.
"""

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import IO

_PREFIX = "/usr/local"
# Parts of the standard library that no strategy, test or gate can use.
_LEFT_OUT = {"test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3"}
_LEFT_OUT |= {"site-packages", "dist-packages"}
_SYSTEM_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
# The C library opens the first two itself, so ldd does not name them. The others are what any wheel
# may expect of a system; Freqtrade's packages, which are shared with a job, want some of them.
_OPENED_LATER = (
    *("libgcc_s.so.1", "libnss_files.so.2"),
    *("libdl.so.2", "libm.so.6", "libpthread.so.0", "libresolv.so.2", "librt.so.1", "libutil.so.1"),
    "libstdc++.so.6",
)
_LDD_LINE = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)
_AT_ONCE = 64


def write_base(stream: IO[bytes], distributions: Iterable[str]) -> None:
    """Writes the root file system, with these installed distributions, as a tar archive.

    Raises:
        OSError: a file cannot be read or there is no ldd.
    """
    files = dict(_python())
    for name in distributions:
        files |= _distribution(name)
    for library in _libraries(files.values()):
        files[_place(library)] = library
    with tarfile.open(fileobj=stream, mode="w|", dereference=True) as archive:
        _links(archive)
        for inner in sorted(files):
            archive.add(files[inner], arcname=inner, recursive=False, filter=_anonymous)


def _python() -> Iterator[tuple[str, Path]]:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    yield f"{_PREFIX}/bin/{version}", Path(sys.executable).resolve()
    library = Path(sysconfig.get_path("stdlib"))
    for folder, folders, names in os.walk(library):
        here = Path(folder)
        folders[:] = [
            name for name in folders if name not in _LEFT_OUT and not name.startswith("config-")
        ]
        inner = f"{_PREFIX}/lib/{version}/{here.relative_to(library).as_posix()}"
        for name in names:
            if (here / name).is_file() and not re.search(r"\.opt-\d\.pyc$", name):
                yield os.path.normpath(f"{inner}/{name}"), here / name
    zones = Path("/usr/share/zoneinfo")
    for zone in zones.rglob("*"):
        if zone.is_file():
            yield str(zone), zone


def _distribution(name: str) -> dict[str, Path]:
    """Gives its files below site-packages; programs and data elsewhere stay behind."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    found = {}
    for file in metadata.distribution(name).files or ():
        path = Path(str(file.locate()))
        if ".." not in file.parts and not file.is_absolute() and path.is_file():
            found[f"{_PREFIX}/lib/{version}/site-packages/{file.as_posix()}"] = path
    return found


def _libraries(files: Iterable[Path]) -> set[Path]:
    """Gives the shared libraries that the given files load and that are not among them."""
    given = {file.resolve() for file in files}
    program = Path(sys.executable).resolve()
    loading = [
        file for file in sorted(given) if (".so" in file.name or file == program) and _is_elf(file)
    ]
    found: set[Path] = set()
    for start in range(0, len(loading), _AT_ONCE):
        some = [str(file) for file in loading[start : start + _AT_ONCE]]
        # A file that is no dynamic program makes ldd complain; what it names is what counts.
        done = subprocess.run(["ldd", *some], capture_output=True, text=True, check=False)  # noqa: S603, S607
        found |= {Path(path) for path in _LDD_LINE.findall(done.stdout)}
    home = {path.parent for path in found if path.name == "libc.so.6"}
    found |= {place / name for place in home for name in _OPENED_LATER}
    return {path for path in found if path.exists() and path.resolve() not in given}


def _is_elf(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"


def _place(library: Path) -> str:
    """Gives its own path where the loader looks by itself, else a folder where it does."""
    if any(library.is_relative_to(folder) for folder in _SYSTEM_FOLDERS):
        return str(library.parent.resolve() / library.name)
    return f"/usr/lib/{library.name}"


def _links(archive: tarfile.TarFile) -> None:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    links = {f"{_PREFIX}/bin/python": version, f"{_PREFIX}/bin/python3": version}
    # Where the host's /lib is a link, the libraries' own paths lead through it.
    links |= {path: os.readlink(path) for path in ("/lib", "/lib64") if os.path.islink(path)}
    # A Debian Python looks for libraries below another name.
    links[f"{_PREFIX}/lib/{version}/dist-packages"] = "site-packages"
    for path, target in links.items():
        member = tarfile.TarInfo(path.lstrip("/"))
        member.type, member.linkname = tarfile.SYMTYPE, target
        archive.addfile(member)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """No owner and no private mode of this machine."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o755 if member.mode & 0o100 else 0o644
    return member
