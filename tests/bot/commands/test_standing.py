from bot.commands.standing import make_standing
from bot.git.identity import TaskName
from bot.git.refs import Refs, Tag

TASK = TaskName("dip", "strategy")


def test_the_tenth_candidate_comes_after_the_second() -> None:
    names = [TASK.tag("corr_0123456789ab", number) for number in (1, 2, 10, 9)]
    tags = {name: Tag("a" * 40, "b" * 40) for name in names}
    for tip in ("b" * 40, ""):
        found = make_standing(TASK, Refs(tip, tags), None, ())
        assert found.tag == "ai/dip/strategy/corr_0123456789ab.10"
