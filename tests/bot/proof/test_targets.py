"""What cannot be proven here is left out and said; nothing unproven is delivered."""

import sys
from pathlib import Path

import pytest

from bot.coder.template.template_coder import TemplateCoder
from bot.contract.model import Contract
from bot.errors import WorldError
from bot.gates.freqtrade.installation import VARIABLE, find_freqtrade, freqtrade_version
from bot.proof.targets import NOT_DELIVERED, Targets, decide_targets, without_freqtrade
from tests.freqtrade.worlds import world


def asking(*targets: str) -> Contract:
    return world(4)[0].model_copy(update={"targets": targets})


@pytest.fixture(autouse=True)
def _no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def test_without_freqtrade_its_file_is_left_out_and_said() -> None:
    delivery = decide_targets(asking("adapter", "freqtrade"), None)
    assert not delivery.freqtrade
    assert delivery.notes == (NOT_DELIVERED,)
    for words in ("not delivered", "Freqtrade 2026.9", "pip install '.[freqtrade]'", VARIABLE):
        assert words in NOT_DELIVERED


def test_with_freqtrade_both_are_delivered(tmp_path: Path) -> None:
    delivery = decide_targets(asking("adapter", "freqtrade"), tmp_path)
    assert delivery == Targets(freqtrade=True, packages=tmp_path)


def test_who_did_not_ask_gets_no_note(tmp_path: Path) -> None:
    assert decide_targets(asking("adapter"), tmp_path) == Targets()
    assert decide_targets(asking("adapter"), None, strict=True) == Targets()


@pytest.mark.parametrize(
    ("targets", "strict"),
    [(("freqtrade",), False), (("adapter", "freqtrade"), True)],
    ids=["nothing else asked for", "strict"],
)
def test_where_it_may_not_be_left_out_the_line_does_not_start(
    targets: tuple[str, ...], strict: bool
) -> None:
    with pytest.raises(WorldError) as caught:
        decide_targets(asking(*targets), None, strict=strict)
    assert caught.value.exit_code == 4
    assert NOT_DELIVERED in caught.value.message


def test_a_named_place_without_freqtrade_is_a_mistake(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(WorldError, match=str(tmp_path)):
        find_freqtrade()


def test_a_named_place_with_freqtrade_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = tmp_path / "lib" / version / "site-packages"
    (packages / "freqtrade").mkdir(parents=True)
    (packages / "freqtrade" / "__init__.py").touch()
    told = packages / "freqtrade-2026.9.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: freqtrade\nVersion: 2026.9\n")
    assert find_freqtrade() == packages
    assert freqtrade_version(packages) == "2026.9"


def test_what_is_left_out_is_dropped_from_the_candidate_and_nothing_else() -> None:
    contract = asking("adapter", "freqtrade")
    candidate = TemplateCoder().write(contract, "contracts/x.yaml")
    kept = without_freqtrade(contract).kept(contract, candidate)
    assert set(candidate.files) - set(kept.files) == {contract.freqtrade_file}
    assert Targets(freqtrade=True).kept(contract, candidate) == candidate


def test_a_fuller_delivery_has_another_name() -> None:
    assert Targets().generator("1.2") == "1.2"
    assert Targets(freqtrade=True).generator("1.2") == "1.2+freqtrade"


def test_the_adapter_file_is_always_planned() -> None:
    assert asking("freqtrade").planned_files == asking("adapter", "freqtrade").planned_files
