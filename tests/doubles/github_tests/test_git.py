"""What is pushed is what the API shows."""

from typing import Any


def test_what_is_pushed_is_seen_by_the_api(home: Any, clone: Any) -> None:
    head = clone.push("ai/generated/w/t", {"a.txt": "ä\n", "sub/b.txt": "b\n"})
    for ref in (head, "ai/generated/w/t"):
        assert home.get_contents("a.txt", ref=ref).decoded_content == "ä\n".encode()
    assert {one.path for one in home.get_contents("", ref=head)} == {"README.md", "a.txt", "sub"}


def test_a_pull_request_counts_what_it_changes(home: Any, clone: Any) -> None:
    clone.push("main", {"old.txt": "".join(f"line {n}\n" for n in range(20)), "gone.txt": "x\n"})
    clone.git("checkout", "-q", "-b", "topic")
    clone.git("mv", "old.txt", "new.txt")
    clone.git("rm", "-q", "gone.txt")
    clone.push("topic", {"added.txt": "y\nz\n"})
    pull = home.get_pull(home.create_pull(base="main", head="topic", title="T").number)
    assert (pull.changed_files, pull.additions, pull.deletions, pull.commits) == (3, 2, 1, 1)
