import subprocess
from pathlib import Path

import pytest

GUARD = Path(__file__).parents[2] / "tools/infrastructure_guard.sh"


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["integration/risk.py"], 1),
        (["integration/risk.py", "infrastructure_update.md"], 0),
        (["integration/risk.py", "docs/infrastructure_update.md"], 1),
        (["bot/cli.py"], 0),
        (["integration/VERSIONS.toml"], 0),
    ],
)
def test_a_change_of_the_bridge_without_its_log_is_refused(
    tmp_path: Path, names: list[str], code: int
) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    done = subprocess.run([GUARD], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert ("[HOOK]" in done.stderr) == bool(code)
