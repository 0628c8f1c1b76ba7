"""Where a job's control group is made, read from the kernel's own descriptions."""

from pathlib import Path

import pytest

from sandbox_runner.namespace import cgroup
from sandbox_runner.namespace.cgroup import ControlGroup, Membership, make_group, read_memberships


def described(tmp_path: Path, groups: str, mounts: str) -> list[Membership]:
    (tmp_path / "cgroup").write_text(groups)
    (tmp_path / "mountinfo").write_text(mounts)
    return read_memberships(tmp_path)


def test_version_1_is_limited_below_our_own_group(tmp_path: Path) -> None:
    found = described(
        tmp_path,
        "8:pids:/\n4:memory:/outer/own\n2:cpu,cpuacct:/\n0::/\n",
        "30 25 0:26 / /cg/memory rw - cgroup cgroup rw,memory\n"
        "31 25 0:27 / /cg/pids rw shared:9 - cgroup cgroup rw,pids\n"
        "32 25 0:28 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n",
    )
    assert found == [
        Membership(frozenset({"pids"}), Path("/cg/pids"), unified=False),
        Membership(frozenset({"memory"}), Path("/cg/memory/outer/own"), unified=False),
    ]


def test_version_2_counts_where_the_parent_hands_the_controllers_on(tmp_path: Path) -> None:
    own = tmp_path / "fs/user.slice/app.scope"
    own.mkdir(parents=True)
    mounts = f"30 25 0:26 / {tmp_path}/fs rw - cgroup2 cgroup2 rw,nsdelegate\n"
    assert described(tmp_path, "0::/user.slice/app.scope\n", mounts) == []
    (own.parent / "cgroup.subtree_control").write_text("cpu memory pids\n")
    [membership] = described(tmp_path, "0::/user.slice/app.scope\n", mounts)
    assert membership == Membership(frozenset({"memory", "pids"}), own, unified=True)


def test_a_group_mounted_from_inside_a_container_is_found(tmp_path: Path) -> None:
    found = described(
        tmp_path,
        "4:memory:/docker/abc/inner\n",
        "30 25 0:26 /docker/abc /cg/memory rw - cgroup cgroup rw,memory\n",
    )
    assert found == [Membership(frozenset({"memory"}), Path("/cg/memory/inner"), unified=False)]


def in_hierarchy(
    monkeypatch: pytest.MonkeyPatch, folder: Path, *, unified: bool, names: tuple[str, ...]
) -> ControlGroup | None:
    """A group made in folders that stand for a hierarchy."""
    own = folder / "slice" / "own"
    own.mkdir(parents=True, exist_ok=True)
    membership = Membership(frozenset(names), own, unified)
    monkeypatch.setattr(cgroup, "read_memberships", lambda: [membership])
    return make_group(64, 8)


@pytest.mark.parametrize(
    ("unified", "limits"),
    [
        (
            True,
            {
                "memory.max": "67108864",
                "memory.swap.max": "0",
                "memory.oom.group": "1",
                "pids.max": "8",
            },
        ),
        (
            False,
            {
                "memory.limit_in_bytes": "67108864",
                "memory.memsw.limit_in_bytes": "67108864",
                "pids.max": "8",
            },
        ),
    ],
    ids=["version 2", "version 1"],
)
def test_both_versions_get_both_limits(
    unified: bool, limits: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = in_hierarchy(monkeypatch, tmp_path, unified=unified, names=("memory", "pids"))
    assert group is not None
    [made] = group.folders
    assert made.parent == tmp_path / "slice" / ("" if unified else "own")
    entered = (made / "cgroup.procs").read_text().strip()
    found = {file.name: file.read_text() for file in made.iterdir() if file.name in limits}
    assert found == limits
    assert entered.isdigit()


def test_where_memory_cannot_be_limited_there_is_no_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroup, "read_memberships", list)
    assert make_group(64, 8) is None


def test_a_group_that_lets_nobody_in_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then processes are limited one by one and watched from outside."""
    monkeypatch.setattr(cgroup, "_lets_in", lambda folder: False)
    assert in_hierarchy(monkeypatch, tmp_path, unified=True, names=("memory", "pids")) is None


def test_entering_is_tried_and_not_supposed(tmp_path: Path) -> None:
    closed = tmp_path / "closed" / "group"
    (closed / "cgroup.procs").mkdir(parents=True)  # root may write anywhere, but not to this
    assert cgroup._lets_in(closed) is False
    opened = tmp_path / "open" / "group"
    opened.mkdir(parents=True)
    assert cgroup._lets_in(opened) is True


def test_a_read_only_hierarchy_gives_no_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(self: Path, *_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    (tmp_path / "slice" / "own").mkdir(parents=True)
    monkeypatch.setattr(Path, "mkdir", closed)
    membership = Membership(frozenset({"memory"}), tmp_path / "slice" / "own", unified=False)
    monkeypatch.setattr(cgroup, "read_memberships", lambda: [membership])
    assert make_group(64, 8) is None
