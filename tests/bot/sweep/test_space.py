"""The values that a search may try: within the ranges, round, and each set once."""

import math
from pathlib import Path

import pytest

from bot.contract.load import LoadedContract, load_contract
from bot.errors import InputError
from bot.sweep.space import Space, grid_sets, near_sets, random_sets, space_of

CONTRACT = Path(__file__).parents[3] / "contracts" / "oversold_dip.yaml"
SPACE: Space = {"a": list(range(10)), "b": [0.1, 0.2, 0.3], "c": list(range(50))}


def contract_with(tmp_path: Path, parameters: str) -> LoadedContract:
    text = CONTRACT.read_text(encoding="utf-8")
    text = text.replace("parameters:\n", f"parameters:\n  {parameters}\n", 1)
    path = tmp_path / "contract.yaml"
    path.write_text(text, encoding="utf-8")
    return load_contract(path)


def values_of(loaded: LoadedContract, name: str) -> list[float]:
    return list(space_of(loaded.strategy)[name])


def test_whole_numbers_are_all_there() -> None:
    loaded = load_contract(CONTRACT)
    assert values_of(loaded, "oversold") == list(range(15, 41))
    assert all(isinstance(value, int) for value in values_of(loaded, "rsi_period"))


@pytest.mark.parametrize(
    ("written", "count", "some"),
    [
        ("x: {default: 0.02, range: [0.01, 0.05]}", 81, [0.01, 0.0105, 0.02, 0.05]),
        ("x: {default: 0.0333, range: [0.0, 1.0]}", 102, [0.0, 0.01, 0.0333, 0.99, 1.0]),
        ("x: {default: 5, range: [1, 100000]}", 102, [1, 5, 1001, 100000]),
        ("x: {default: 0.1, range: [0.1, 0.35]}", 51, [0.1, 0.105, 0.35]),
    ],
)
def test_steps_are_round_and_the_ends_and_the_default_are_in(
    tmp_path: Path, written: str, count: int, some: list[float]
) -> None:
    found = values_of(contract_with(tmp_path, written), "x")
    assert len(found) == count
    assert set(some) <= set(found)
    assert found == sorted(found)


def test_without_a_range_there_is_nothing_to_search(tmp_path: Path) -> None:
    text = CONTRACT.read_text(encoding="utf-8")
    text = text.replace(", range: [15, 40]", "").replace(", range: [7, 28]", "")
    path = tmp_path / "contract.yaml"
    path.write_text(text, encoding="utf-8")
    loaded = load_contract(path)
    with pytest.raises(InputError, match="no parameter has a range"):
        space_of(loaded.strategy)


@pytest.mark.parametrize("most", [1, 2, 7, 100, 499, 1_500, 9_999])
def test_a_grid_is_thinned_evenly_and_never_too_large(most: int) -> None:
    found = grid_sets(SPACE, most)
    assert len({tuple(one.values()) for one in found}) == len(found)
    assert most / 8 < len(found) <= most or len(found) == 1_500
    if most >= 8:
        assert {0, 9} <= {one["a"] for one in found}


def test_chance_draws_no_set_twice_and_the_seed_decides() -> None:
    found = random_sets(SPACE, 200, 1)
    assert len({tuple(one.values()) for one in found}) == 200
    assert found == random_sets(SPACE, 200, 1) != random_sets(SPACE, 200, 2)
    assert all(value in SPACE[name] for one in found for name, value in one.items())
    assert len(random_sets(SPACE, 5_000, 1)) == math.prod(map(len, SPACE.values()))


def test_neighbours_move_one_parameter_and_stay_inside() -> None:
    near = near_sets(SPACE, {"a": 0, "b": 0.2, "c": 30})
    assert near == [
        {"a": 1, "b": 0.2, "c": 30},
        {"a": 0, "b": 0.1, "c": 30},
        {"a": 0, "b": 0.3, "c": 30},
        {"a": 0, "b": 0.2, "c": 28},
        {"a": 0, "b": 0.2, "c": 32},
    ]
