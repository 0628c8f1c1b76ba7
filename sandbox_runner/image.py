"""Turns the installed versions into the Docker sandbox's image, and finds it again.

    python -m sandbox_runner.image                   base and libraries from their registries
    python -m sandbox_runner.image --wheels DIR      libraries from a folder of wheels
    python -m sandbox_runner.image --offline         all of it from this machine's own Python

The image carries the digest of its inputs as a label, so it is built again exactly when one of them
changes. Exit codes: 0 it is there, 2 bad input, 4 the engine failed.
"""

import argparse
import hashlib
import io
import platform
import re
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import IO, Any

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from sandbox_runner.port import SandboxUnavailable

LABEL = "stratwright.sandbox"
BASE_LABEL = "stratwright.base"
REPOSITORY = "stratwright-sandbox"
BUILD_COMMAND = "python -m sandbox_runner.image"
Engine = Any  # docker.APIClient, a package without types
_HERE = Path(__file__).resolve().parent
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_DONE, _BAD_INPUT, _NO_ENGINE = 0, 2, 4


@dataclass(frozen=True)
class Recipe:
    """States what an image is made from; one recipe gives one digest on every machine."""

    requirements: str
    python: str  # 3.11
    machine: str
    texts: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Gives the name of everything that decides what is in the image."""
        lines = [self.python, self.machine, self.requirements]
        lines += [f"{name}\n{text}" for name, text in sorted(self.texts.items())]
        return hashlib.sha256("\0".join(lines).encode()).hexdigest()

    @property
    def tag(self) -> str:
        """Gives the image's name for people; the code goes by label and id."""
        return f"{REPOSITORY}:{self.digest[:12]}"


def read_recipe() -> Recipe:
    """Reads the recipe for the versions that are installed here.

    Raises:
        SandboxUnavailable: one of the libraries is not installed.
    """
    texts = {
        name: (_HERE / name).read_text("utf-8")
        for name in ("Dockerfile.sandbox", "docker/install_libraries.py")
    }
    try:
        pins = sorted(f"{name}=={metadata.version(name)}" for name in distributions())
    except metadata.PackageNotFoundError as error:
        raise SandboxUnavailable(
            f"The sandbox's image needs {error.name}, which is not installed here.",
            f"pip install -r {_HERE / 'requirements.txt'}",
        ) from error
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return Recipe("\n".join(pins) + "\n", version, platform.machine(), texts)


def distributions() -> set[str]:
    """Gives the names in requirements.txt, and of all that they need here."""
    lines = (_HERE / "requirements.txt").read_text("utf-8").splitlines()
    waiting = [match.group() for line in lines if (match := _NAME.match(line))]
    found: set[str] = set()
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name not in found:
            found.add(name)
            waiting += _needs(name)
    return found


def _needs(name: str) -> Iterator[str]:
    for line in metadata.requires(name) or ():
        requirement, _, marker = line.partition(";")
        match = _NAME.match(requirement.strip())
        if match is None or "extra" in marker:
            continue
        # A marker for another system or Python: what is not installed is not needed here.
        try:
            metadata.version(match.group())
        except metadata.PackageNotFoundError:
            continue
        yield match.group()


def find_image(engine: Engine, recipe: Recipe) -> str | None:
    """Finds the id of the image with this recipe, if the engine has one."""
    found = engine.images(filters={"label": f"{LABEL}={recipe.digest}"})
    newest = sorted(found, key=lambda image: int(image["Created"]))
    return str(newest[-1]["Id"]) if newest else None


def build_image(
    engine: Engine, recipe: Recipe, *, base: str, offline: bool = False, wheels: Path | None = None
) -> str:
    """Builds the image and gives its id.

    It starts from `base`, or offline from this machine's Python, and takes the libraries from the
    registry, or from a folder of wheels.

    Raises:
        SandboxUnavailable: a step failed; the message has its last words.
    """
    base = _import_base(engine, recipe) if offline else base
    with tempfile.TemporaryFile() as context:
        _write_context(context, recipe, wheels)
        context.seek(0)
        lines = engine.build(
            fileobj=context,
            custom_context=True,
            dockerfile="sandbox_runner/Dockerfile.sandbox",
            tag=recipe.tag,
            buildargs={"BASE_IMAGE": base},
            labels={LABEL: recipe.digest, BASE_LABEL: base},
            network_mode="none" if offline or wheels else "default",
            rm=True,
            forcerm=True,
            decode=True,
        )
        _follow(lines)
    image = find_image(engine, recipe)
    if image is None:
        raise SandboxUnavailable("The engine built the image and does not list it.", BUILD_COMMAND)
    return image


def _import_base(engine: Engine, recipe: Recipe) -> str:
    from sandbox_runner.docker.base_image import write_base

    tag = f"base-{recipe.digest[:12]}"
    with tempfile.NamedTemporaryFile(suffix=".tar") as archive:
        write_base(archive, distributions())
        archive.flush()
        changes = ["ENV PATH=/usr/local/bin", f"LABEL {BASE_LABEL}={recipe.digest}"]
        engine.import_image_from_file(archive.name, REPOSITORY, tag, changes=changes)
    return f"{REPOSITORY}:{tag}"


def _write_context(stream: IO[bytes], recipe: Recipe, wheels: Path | None) -> None:
    """Writes the files that Dockerfile.sandbox names, under the repository's paths."""
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, text in {**recipe.texts, "requirements.txt": recipe.requirements}.items():
            member = tarfile.TarInfo(f"sandbox_runner/{name}")
            member.size, member.mode = len(text.encode()), 0o644
            archive.addfile(member, io.BytesIO(text.encode()))
        for wheel in sorted(wheels.glob("*.whl")) if wheels else ():
            archive.add(wheel, arcname=f"sandbox_runner/wheels/{wheel.name}")


def _follow(lines: Iterator[Mapping[str, object]]) -> None:
    words: list[str] = []
    for line in lines:
        if "error" in line:
            told = " ".join([*words[-5:], str(line["error"])]).strip()
            raise SandboxUnavailable(
                f"The image could not be built: {told[-600:]}",
                "Without access to the registries: --offline, or --wheels DIR with a base that is "
                "there (--base).",
            )
        words += [str(line["stream"]).strip()] if str(line.get("stream", "")).strip() else []


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and see to it that the image is there."""
    options = _parser().parse_args(arguments)
    if options.wheels is not None and not any(options.wheels.glob("*.whl")):
        print(f"error: there are no wheels in {options.wheels}", file=sys.stderr)
        return _BAD_INPUT
    from sandbox_runner.docker.docker_engine import connected

    try:
        recipe = read_recipe()
        with connected(timeout_s=1800) as engine:
            image = None if options.force else find_image(engine, recipe)
            word = "is there" if image else "built"
            if image is None:
                base = options.base or f"python:{recipe.python}-slim"
                image = build_image(
                    engine, recipe, base=base, offline=options.offline, wheels=options.wheels
                )
    except SandboxUnavailable as error:
        print(f"error: {error.message}\nhint: {error.hint}", file=sys.stderr)
        return _NO_ENGINE
    except OSError as error:
        print(f"error: the image could not be put together: {error}", file=sys.stderr)
        return _NO_ENGINE
    print(f"{word}: {recipe.tag} {image}")
    return _DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=BUILD_COMMAND, description="Build the Docker sandbox's image, if it is not there."
    )
    parser.add_argument("--base", help="image to start from (default: python:X.Y-slim)")
    parser.add_argument(
        "--offline", action="store_true", help="make it from this machine's Python; no download"
    )
    parser.add_argument("--wheels", type=Path, metavar="DIR", help="install from these wheels")
    parser.add_argument("--force", action="store_true", help="build it even if it is there")
    return parser


if __name__ == "__main__":
    sys.exit(main())
