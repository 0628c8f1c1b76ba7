"""What the product says of itself is whole."""

from bot.gates.table import FOREIGN, NAMES
from bot.knowledge.ingest import in_own_words
from bot.knowledge.port import open_knowledge
from bot.knowledge.sources.product_source import read_product


def test_every_fact_of_the_product_says_something():
    assert [fact.symbol for fact in in_own_words(read_product()).facts if not fact.says] == []


def test_every_gate_is_found_by_its_name():
    knowledge = open_knowledge()
    for name in (*NAMES, *FOREIGN, "freqtrade-parity"):
        assert knowledge.search(f"what does the gate {name} refuse", 1)[0].symbol == f"gate.{name}"
