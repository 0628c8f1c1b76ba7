"""System packages are installed where that is possible, and named where it is not."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "setup_system.sh"


@pytest.fixture
def machine(tmp_path):
    """A PATH with git and make, without bubblewrap, with an `id` and an `apt-get` to order."""

    def program(name, script):
        path = tmp_path / name
        path.write_text(f"#!{shutil.which('bash')}\n{script}\n")
        path.chmod(0o755)

    def run(*arguments, uid, apt=None):
        program("git", "exit 0")
        program("make", "exit 0")
        program("id", f"echo {uid}")
        if apt is not None:
            program("apt-get", apt)
        return subprocess.run(
            [shutil.which("bash"), str(SCRIPT), *arguments],
            env={**os.environ, "PATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_without_root_it_says_what_is_missing_and_goes_on(machine):
    done = machine(uid=1000)
    assert done.returncode == 0
    assert "sudo apt-get install bubblewrap" in done.stderr


def test_strict_makes_a_missing_program_an_error(machine):
    assert machine("--strict", uid=1000).returncode == 4


def test_root_with_apt_installs_only_what_is_missing(machine, tmp_path):
    asked = tmp_path / "asked"
    done = machine(uid=0, apt=f'echo "$@" >> {asked}')
    assert done.returncode == 0
    assert asked.read_text().splitlines()[-1].split()[-1] == "bubblewrap"


def test_a_failing_apt_is_told_and_is_fatal_only_when_strict(machine):
    assert machine(uid=0, apt="exit 100").returncode == 0
    strict = machine("--strict", uid=0, apt="exit 100")
    assert strict.returncode == 4
    assert "could not install bubblewrap" in strict.stderr
