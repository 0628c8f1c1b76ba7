"""The documented settings are the ones in force."""

from dataclasses import asdict
from pathlib import Path

import pytest

import Backtest.sim_settings
from Backtest.sim_errors import SettingError
from Backtest.sim_settings import SimSettings, load_settings, step_parts

CONFIGS = Path(Backtest.sim_settings.__file__).with_name("configs.yaml")


def test_the_documented_defaults_are_the_codes_defaults() -> None:
    assert load_settings(CONFIGS) == asdict(SimSettings())


def test_every_documented_setting_has_its_comment() -> None:
    lines = CONFIGS.read_text(encoding="utf-8").splitlines()
    assert all("#" in line for line in lines if line.strip())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("capitol: 5", "Did you mean 'capital'"),
        ("capital: -5", "capital is -5"),
        ("- 1", "holds no settings"),
        ("a: [", "cannot read the settings"),
    ],
)
def test_a_wrong_file_is_explained(text: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "my.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingError, match=fault):
        load_settings(path)


def test_a_missing_file_is_explained(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="cannot read the settings"):
        load_settings(tmp_path / "gone.yaml")


@pytest.mark.parametrize(("step", "digits"), [(0.01, 2), (1e-8, 8), (5.0, 0), (0.25, 2), (None, 0)])
def test_a_step_knows_its_decimals(step: float | None, digits: int) -> None:
    assert step_parts(step)[1] == 10**digits
