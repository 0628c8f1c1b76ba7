"""Where a job's control group is made, read from the kernel's own descriptions."""

from pathlib import Path

from sandbox_runner.cgroup import Membership, read_memberships


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
