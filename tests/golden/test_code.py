"""The files that three contracts give, for review.

`make golden` rewrites them; look at the difference before you commit it. They end in `.txt`, so
that no tool takes them for code of the repository.
"""

from pathlib import Path

import pytest

from bot.coder.template.template_coder import TemplateCoder
from bot.contract.load import load_contract

FOLDER = Path(__file__).parent / "code"
NAMES = ("both_sides", "four_hours", "oversold_dip")


def written(name: str) -> dict[Path, str]:
    """What the contract of a golden folder gives, by the path of its golden file."""
    path = FOLDER / name / "contract.yaml"
    candidate = TemplateCoder().write(load_contract(path).strategy, f"contracts/{name}.yaml")
    return {
        FOLDER / name / f"{place.replace('/', '_')}.txt": text
        for place, text in candidate.files.items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_contract_gives_its_golden_files(name: str) -> None:
    files = written(name)
    assert len(files) == 3
    for path, text in files.items():
        assert path.read_text("utf-8") == text, f"{path.name} differs; see make golden"


def test_every_golden_folder_is_looked_at() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(NAMES)
    kept = set(FOLDER.rglob("*.txt"))
    assert kept == {path for name in NAMES for path in written(name)}


if __name__ == "__main__":
    for folder in NAMES:
        for file, content in written(folder).items():
            file.write_text(content, "utf-8")
            print(file)  # noqa: T201 - a command
