"""The locks hold what pyproject.toml asks for, with digests, and name no place to fetch it from."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bot.locks.pins import locked_version
from tools.sbom import bill_of_materials

HOUSE = Path(__file__).parents[1]
PROJECT = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
LOCKS = {
    "bot/locks/github.txt": ("github", "feather", "model"),
    "bot/locks/freqtrade.txt": ("github", "feather", "freqtrade", "model"),
    "tools/dev_lock.txt": ("dev",),
}
PIN = re.compile(r"([a-z0-9.-]+)==([^ ;]+)(?: ; ([^\\]+?))? \\")


def pins(lock: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for line in (HOUSE / lock).read_text().splitlines():
        if pin := PIN.fullmatch(line):
            found.setdefault(pin[1], set()).add(pin[2])
    return found


@pytest.mark.parametrize("lock", LOCKS)
def test_every_line_is_a_pin_or_a_digest_and_no_index_is_named(lock: str) -> None:
    lines = (HOUSE / lock).read_text().splitlines()
    assert lines[0].startswith("# Made by `make lock`")
    digest = re.compile(r"    --hash=sha256:[0-9a-f]{64}(?: \\)?")
    odd = [line for line in lines[1:] if not PIN.fullmatch(line) and not digest.fullmatch(line)]
    assert odd == []
    text = "\n".join(lines[1:])
    assert len(re.findall(r"\\\n    --hash", text)) >= sum(map(len, pins(lock).values()))


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_is_in_step_with_the_project(lock: str) -> None:
    """Change a requirement and forget `make lock`, and this says so."""
    found = pins(lock)
    asked = [*PROJECT["dependencies"], *(each for extra in LOCKS[lock] for each in EXTRAS[extra])]
    for text in asked:
        requirement = Requirement(text)
        versions = found.get(canonicalize_name(requirement.name), set())
        assert versions, f"{requirement.name} is not in {lock}: make lock"
        for version in versions:
            assert requirement.specifier.contains(version), f"{text}: {version}; make lock"


def test_a_package_has_one_version_in_every_job() -> None:
    github, freqtrade = pins("bot/locks/github.txt"), pins("bot/locks/freqtrade.txt")
    assert {name: freqtrade.get(name) for name in github} == github


def test_freqtrade_is_locked_to_what_its_target_is_proven_with() -> None:
    asked = (HOUSE / "tools/freqtrade.txt").read_text().splitlines()[-1]
    assert asked == f"freqtrade=={locked_version('freqtrade')}"
    with pytest.raises(KeyError):
        locked_version("no-such-package")


def test_the_bill_of_materials_names_every_package_with_its_digests() -> None:
    lock = (HOUSE / "bot/locks/github.txt").read_text()
    bill = json.loads(bill_of_materials(lock, "1.2.3"))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    named: dict[str, set[str]] = {}
    for part in bill["components"]:
        named.setdefault(part["name"], set()).add(part["version"])
        assert all(each["hashes"] for each in part["externalReferences"])
        assert part["externalReferences"]
    assert named == pins("bot/locks/github.txt")
    assert bill_of_materials(lock, "1.2.3") == bill_of_materials(lock, "1.2.3")
