"""Git over the API and Git over the file system are one and the same repository."""

from pathlib import Path
from typing import Any

import github
import pytest

from bot.testing import HostedRepository

HOME = "/repos/owner/name"


def test_a_commit_made_by_the_api_can_be_pulled(home: Any, clone: Any) -> None:
    main = home.get_git_ref("heads/main")
    base = home.get_git_commit(main.object.sha)
    lines = [
        github.InputGitTreeElement("folder/new.txt", "100644", "blob", content="text\n"),
        github.InputGitTreeElement("README.md", "100644", "blob", sha=None),
    ]
    tree = home.create_git_tree(lines, base.tree)
    commit = home.create_git_commit("By the API", tree, [base])
    main.edit(commit.sha)
    clone.git("pull", "-q", "--ff-only", "origin", "main")
    assert clone.git("rev-parse", "HEAD") == commit.sha
    assert (clone.folder / "folder/new.txt").read_text() == "text\n"
    assert not (clone.folder / "README.md").exists()
    assert clone.git("log", "-1", "--format=%an %s") == "github-actions[bot] By the API"
    clone.git("fsck", "--strict")


def test_what_is_pushed_is_seen_by_the_api(home: Any, clone: Any) -> None:
    head = clone.push("ai/generated/w/t", {"a.txt": "ä\n", "sub/b.txt": "b\n"})
    branch = home.get_branch("ai/generated/w/t")
    assert (branch.commit.sha, branch.protected) == (head, False)
    assert home.get_contents("a.txt", ref=head).decoded_content == "ä\n".encode()
    assert {one.path for one in home.get_contents("", ref=head)} == {"README.md", "a.txt", "sub"}
    tree = home.get_git_tree(head, recursive=True)
    assert {one.path for one in tree.tree} == {"README.md", "a.txt", "sub", "sub/b.txt"}
    assert [one.filename for one in home.get_commit(head).files] == ["a.txt", "sub/b.txt"]
    assert {one.name for one in home.get_branches()} == {"main", "ai/generated/w/t"}


def test_the_same_commit_has_the_same_name_by_either_way(home: Any, clone: Any) -> None:
    head = clone.push("topic", {"a.txt": "a"})
    read = home.get_git_commit(head)
    author = github.InputGitAuthor("Test", "test@example.com", read.author.date.isoformat())
    parents = [home.get_git_commit(one.sha) for one in read.parents]
    tree = home.get_git_tree(read.tree.sha)
    made = home.create_git_commit(f"{read.message}\n", tree, parents, author, author)
    assert made.sha == head


def test_an_annotated_tag_and_its_ref(home: Any, clone: Any) -> None:
    head = clone.git("rev-parse", "HEAD")
    tag = home.create_git_tag("ai/w/t/corr_1", "Correlation-Id: corr_1", head, "commit")
    home.create_git_ref("refs/tags/ai/w/t/corr_1", tag.sha)
    clone.git("fetch", "-q", "--tags")
    assert clone.git("cat-file", "-t", "ai/w/t/corr_1") == "tag"
    assert clone.git("rev-parse", "ai/w/t/corr_1^{commit}") == head
    ref = home.get_git_ref("tags/ai/w/t/corr_1")
    assert (ref.object.type, home.get_git_tag(ref.object.sha).message) == (
        "tag",
        "Correlation-Id: corr_1",
    )
    assert [one.name for one in home.get_tags()] == ["ai/w/t/corr_1"]


def test_refs_are_refused_in_githubs_words(ask: Any, clone: Any) -> None:
    first = clone.git("rev-parse", "HEAD")
    second = clone.push("topic", {"a.txt": "a"})
    refs = f"{HOME}/git/refs"
    told = {
        "exists": ask("POST", refs, {"ref": "refs/heads/main", "sha": first}),
        "unknown": ask("POST", refs, {"ref": "refs/heads/x", "sha": "0" * 40}),
        "short": ask("POST", refs, {"ref": "refs/heads/x", "sha": "abc"}),
        "name": ask("POST", refs, {"ref": "heads", "sha": first}),
        "below": ask("POST", refs, {"ref": "refs/heads/main/x", "sha": first}),
        "back": ask("PATCH", f"{refs}/heads/topic", {"sha": first}),
        "missing": ask("PATCH", f"{refs}/heads/none", {"sha": first}),
    }
    assert {answer.status for answer in told.values()} == {422}
    assert told["exists"].body["message"] == "Reference already exists"
    assert told["unknown"].body["message"] == "Object does not exist"
    assert told["back"].body["message"] == "Update is not a fast forward"
    assert told["missing"].body["message"] == "Reference does not exist"
    assert ask("PATCH", f"{refs}/heads/topic", {"sha": first, "force": True}).status == 200
    assert ask("PATCH", f"{refs}/heads/topic", {"sha": second}).status == 200


def test_a_file_is_changed_only_by_who_knows_it(home: Any) -> None:
    made = home.create_file("x.txt", "add x", "one", branch="main")
    with pytest.raises(github.GithubException) as caught:
        home.update_file("x.txt", "change x", "two", "0" * 40, branch="main")
    assert caught.value.status == 409
    home.update_file("x.txt", "change x", "two", made["content"].sha, branch="main")
    file = home.get_contents("x.txt")
    assert file.decoded_content == b"two"
    home.delete_file("x.txt", "remove x", file.sha, branch="main")
    with pytest.raises(github.UnknownObjectException):
        home.get_contents("x.txt")


def test_compare_counts_both_sides(home: Any, clone: Any) -> None:
    clone.push("topic", {"a.txt": "1\n2\n"})
    clone.push("topic", {"a.txt": "1\n3\n"})
    clone.git("checkout", "-q", "main")
    clone.push("main", {"b.txt": "b"})
    seen = home.compare("main", "topic")
    assert (seen.status, seen.ahead_by, seen.behind_by) == ("diverged", 2, 1)
    assert [(one.filename, one.status, one.additions) for one in seen.files] == [
        ("a.txt", "added", 2)
    ]
    assert home.compare("main", "main").status == "identical"


def test_a_rename_and_a_removal_are_told_apart(home: Any, clone: Any) -> None:
    clone.push("topic", {"old.txt": "".join(f"line {n}\n" for n in range(20)), "gone.txt": "x\n"})
    clone.git("mv", "old.txt", "new.txt")
    clone.git("rm", "-q", "gone.txt")
    head = clone.push("topic", {"added.txt": "y\n"})
    files = {one.filename: one for one in home.get_commit(head).files}
    assert {name: one.status for name, one in files.items()} == {
        "added.txt": "added",
        "gone.txt": "removed",
        "new.txt": "renamed",
    }
    assert files["new.txt"].previous_filename == "old.txt"
    assert files["added.txt"].patch == "@@ -0,0 +1 @@\n+y"


def test_an_empty_repository_says_so(hub: Any, token: str, ask: Any, tmp_path: Path) -> None:
    import subprocess

    bare = tmp_path / "empty.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    hub.create_repository("owner/empty", bare=bare)
    assert ask("GET", "/repos/owner/empty/commits").status == 409
    assert ask("GET", "/repos/owner/empty/branches").body == []


def test_odd_paths_in_trees_are_refused(ask: Any, repo: HostedRepository) -> None:
    for path in ("../x", ".git/config", "a//b", "/x", ""):
        line = {"path": path, "mode": "100644", "type": "blob", "content": "x"}
        assert ask("POST", f"{HOME}/git/trees", {"tree": [line]}).status == 422
