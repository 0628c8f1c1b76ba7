"""What every sandbox must hold against, written against the port; hostile code runs only inside."""

import json
import os
import shutil
import socket
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from sandbox_runner.port import Job, Outcome, Sandbox

GRACE_S = 60.0  # a busy machine ends two dozen processes slowly; without a limit they never end
WRITABLE = ["/dev/shm", "/out", "/tmp"]  # noqa: S108 - inside


def run(sandbox: Sandbox, code: str, **settings: Any) -> Outcome:
    settings = {"files": {}, "timeout_s": 60, "memory_mb": 256, "file_limit_mb": 8} | settings
    return sandbox.run(Job(("python", "-c", textwrap.dedent(code)), **settings))


def tell(sandbox: Sandbox, code: str, **settings: Any) -> Any:
    """Run code that fills `told`, and bring the answer out."""
    lines = ["import json, os, sys", "told = None", textwrap.dedent(code)]
    outcome = run(sandbox, "\n".join([*lines, "print(json.dumps(told))"]), **settings)
    assert outcome.exit_code == 0, outcome.stderr.decode()
    return json.loads(outcome.stdout)


def marked_processes(mark: str) -> list[int]:
    """Processes of this machine whose command line holds the mark."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                line = Path("/proc", name, "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in line:
                found.append(int(name))
    return found


# --- ordinary work


def test_output_errors_and_exit_code_come_out(sandbox: Sandbox) -> None:
    outcome = run(sandbox, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)")
    assert (outcome.stdout, outcome.stderr, outcome.exit_code) == (b"out\n", b"err\n", 7)
    assert not any((outcome.timed_out, outcome.out_of_memory, outcome.truncated))


def test_death_by_a_signal_is_128_and_its_number(sandbox: Sandbox) -> None:
    assert run(sandbox, "import os; os.kill(os.getpid(), 15)").exit_code == 143
    assert run(sandbox, "import os; os.kill(os.getpid(), 9)").exit_code == 137


def test_files_go_in_and_named_outputs_come_out(sandbox: Sandbox) -> None:
    code = """
    import os, shutil
    assert os.getcwd() == "/job"
    os.makedirs("/out/deep")
    shutil.copy("folder/žluť.txt", "/out/deep/žluť.txt")
    open("/out/unasked", "w").write("x")
    """
    content = "Kůň €".encode() + bytes(range(256))
    files = {"folder/žluť.txt": content, "empty": b""}
    collect = ("deep/žluť.txt", "missing")
    outcome = run(sandbox, code, files=files, collect=collect)
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.outputs == {"deep/žluť.txt": content}
    assert outcome.refused == {"missing": "it was not written"}


def test_unicode_is_printed_as_utf_8(sandbox: Sandbox) -> None:
    assert run(sandbox, "print('Kůň €')").stdout == "Kůň €\n".encode()


def test_the_libraries_and_our_packages_can_be_imported(sandbox: Sandbox) -> None:
    code = (
        "import numpy, pandas, talib, adapters, Backtest, sandbox_runner; print(talib.__version__)"
    )
    outcome = run(sandbox, code, memory_mb=1024)
    assert outcome.exit_code == 0, outcome.stderr.decode()


def test_the_hash_seed_is_the_job_s(sandbox: Sandbox) -> None:
    code = "told = [hash('stratwright'), sys.flags.hash_randomization]"
    seeds = (0, 1, 4294967295, 1)
    first, second, third, again = (tell(sandbox, code, hash_seed=seed) for seed in seeds)
    assert second == again
    assert len({first[0], second[0], third[0]}) == 3


def test_two_sandboxes_at_once_do_not_meet(sandbox: Sandbox) -> None:
    answers: dict[int, Any] = {}
    code = (
        "import time; open('/tmp/me', 'x').close(); time.sleep(0.5);"
        "told = sum(entry.is_file() for entry in os.scandir('/tmp'))"
    )

    def ask(number: int) -> None:
        answers[number] = tell(sandbox, code)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {0: 1, 1: 1}


# --- what the inside can see


def test_the_code_is_an_unprivileged_user_without_capabilities(sandbox: Sandbox) -> None:
    code = """
    status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
    names = ("CapInh", "CapPrm", "CapEff", "CapAmb")
    told = [os.getuid(), os.getgid(), os.getgroups(), [int(status[name], 16) for name in names],
            status["NoNewPrivs"], status["Seccomp"]]
    """
    uid, gid, groups, capabilities, no_new_privileges, seccomp = tell(sandbox, code)
    assert (uid, gid) == (10001, 10001)
    assert set(groups) <= {10001, 65534}
    assert capabilities == [0, 0, 0, 0]
    assert (no_new_privileges, seccomp) == ("1", "2")


def test_there_is_no_network_not_even_the_host_s_loopback(sandbox: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"""
        import socket
        told = []
        for address in (("127.0.0.1", {port}), ("192.0.2.1", 80), ("localhost", {port})):
            try:
                socket.create_connection(address, timeout=1)
                told.append(str(address))
            except OSError:
                pass
        """
        assert tell(sandbox, code) == []
    interfaces = tell(sandbox, "told = open('/proc/net/dev').read()")
    assert [line.split(":")[0].strip() for line in interfaces.splitlines()[2:]] in ([], ["lo"])


def test_abstract_unix_sockets_of_the_host_are_out_of_reach(sandbox: Sandbox) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0stratwright-conformance-" + str(os.getpid()))
        server.listen()
        code = f"""
        import socket
        try:
            socket.socket(socket.AF_UNIX).connect("\\0stratwright-conformance-{os.getpid()}")
            told = "reached"
        except OSError as error:
            told = "refused"
        """
        assert tell(sandbox, code) == "refused"


def test_host_files_are_out_of_reach(sandbox: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    with tempfile.NamedTemporaryFile(dir=Path.home()) as at_home:
        suspects = [str(secret), at_home.name, str(Path(__file__)), "/etc/passwd", "/etc/shadow"]
        suspects += ["/etc/hostname", "/sys", "/var", "/run", "/boot", "/bin/sh", "/usr/bin/env"]
        code = f"told = [path for path in {suspects!r} if os.path.exists(path)]"
        seen = tell(sandbox, code)
    if not sandbox.name.startswith("docker"):
        assert seen == []
        return
    # An image has files of its own under such names; none of them may be the host's.
    assert set(seen) <= {"/etc/passwd", "/etc/shadow", "/etc/hostname", "/sys", *suspects[7:]}
    code = f"""
    told = {{}}
    for path in {seen!r}:
        status = os.stat(path)
        told[path] = [status.st_dev, status.st_ino]
    """
    for path, identity in tell(sandbox, code).items():
        if os.path.exists(path):
            status = os.stat(path)
            assert identity != [status.st_dev, status.st_ino]
    assert tell(sandbox, "told = os.listdir('/sys')") == []


def test_no_process_s_root_or_folder_leads_to_the_host(sandbox: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    code = f"""
    told = []
    for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
        for way in ("root", "cwd"):
            try:
                if os.path.exists(f"/proc/{{pid}}/{{way}}{secret}"):
                    told.append(pid)
            except OSError:
                pass
    for number in range(256):
        for path in (".", "..", "../../../../../.."):
            try:
                os.fchdir(number)
                if os.path.exists(path + {str(secret)!r}) or os.path.exists("/work"):
                    told.append(number)
            except OSError:
                pass
    """
    assert tell(sandbox, code) == []


def test_no_open_file_but_the_standard_three_is_inherited(sandbox: Sandbox) -> None:
    code = """
    told = []
    for number in range(3, 256):
        try:
            os.fstat(number)
            told.append(os.readlink(f"/proc/self/fd/{number}"))
        except OSError:
            pass
    """
    assert tell(sandbox, code, files={"a": b"x"}) == []


def test_the_host_s_environment_is_out_of_reach(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRATWRIGHT_SECRET", "swordfish")
    code = """
    told = dict(os.environ)
    for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
        try:
            told[pid] = open(f"/proc/{pid}/environ", errors="replace").read()
        except OSError:
            pass
    """
    told = json.dumps(tell(sandbox, code))
    assert "swordfish" not in told
    assert os.environ.get("PATH", "nowhere") not in told


def test_no_process_names_the_host_s_folders(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Command lines, environments, memory maps, working folders; mounts are in SECURITY.md."""
    shared = tmp_path / "of_the_user"
    shared.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home_of_the_user"))
    code = """
    told = [os.getcwd(), sys.argv, dict(os.environ)]
    for pid in ["self"] + [name for name in os.listdir("/proc") if name.isdigit()]:
        for name in ("cmdline", "comm", "environ", "maps", "stat", "status", "cgroup"):
            try:
                told.append(open(f"/proc/{pid}/{name}", errors="replace").read())
            except OSError:
                pass
        for name in ("cwd", "exe", "root"):
            try:
                told.append(os.readlink(f"/proc/{pid}/{name}"))
            except OSError:
                pass
        try:
            found = open(f"/proc/{pid}/mem", "rb", buffering=0) if pid == "1" else None
            told.append("opened " * 2 if found else "")
        except OSError:
            pass
    """
    told = json.dumps(tell(sandbox, code, shared={"user": shared}))
    # Where Python itself lies cannot be hidden; it often lies in the repository.
    for prefix in sorted({sys.prefix, sys.base_prefix}, key=len, reverse=True):
        told = told.replace(prefix, "PYTHON")
    house = Path(__file__).resolve().parents[2]
    for path in (house, tmp_path, Path.home()):
        assert str(path) not in told
        assert str(path).encode().hex() not in told
    assert "opened opened" not in told


def test_only_the_sandbox_s_own_processes_are_visible(sandbox: Sandbox) -> None:
    pids = tell(sandbox, "told = [int(name) for name in os.listdir('/proc') if name.isdigit()]")
    assert len(pids) <= 3
    assert max(pids) < 20


def test_nothing_but_three_folders_can_be_written_to(sandbox: Sandbox) -> None:
    code = """
    told = []
    for folder, folders, files in os.walk("/"):
        if folder.startswith("/proc"):
            folders.clear()
            continue
        if folder.startswith("/tmp/") and not folder.startswith(sys.prefix):
            continue  # /tmp itself, on the way to an interpreter that lies below it
        try:
            open(folder + "/written", "x").close()
            told.append(folder)
        except OSError:
            pass
    """
    # All folders of the interpreter's packages are tried, which takes a while.
    assert sorted(tell(sandbox, code, files={"a/b": b"x"}, timeout_s=300)) == WRITABLE


def test_no_file_of_the_job_or_of_ours_can_be_changed(sandbox: Sandbox) -> None:
    code = """
    import sandbox_runner.port
    told = []
    for path in ("/job/a/b", sandbox_runner.port.__file__, os.__file__, sys.executable):
        for change in (lambda p: open(p, "ab"), os.unlink, lambda p: os.chmod(p, 0o777)):
            try:
                change(path)
                told.append(path)
            except OSError:
                pass
    """
    assert tell(sandbox, code, files={"a/b": b"x"}) == []


def test_the_job_cannot_shadow_a_module(sandbox: Sandbox) -> None:
    shadow = b"raise SystemExit('shadowed')\n"
    names = ("json.py", "pandas.py", "adapters/__init__.py", "sitecustomize.py", "usercustomize.py")
    names += ("Backtest/__init__.py", "Backtest/codes/json.py", "sandbox_runner/__init__.py")
    code = "import json, adapters, Backtest, sandbox_runner; told = sys.path"
    path = tell(sandbox, code, files=dict.fromkeys(names, shadow))
    assert not [entry for entry in path if entry in ("", "/job") or entry.startswith("/job/")]


def test_a_strategy_is_found_under_its_repository_name(sandbox: Sandbox) -> None:
    files = {"Backtest/codes/dip.py": b"VALUE = 3\n"}
    assert tell(sandbox, "from Backtest.codes import dip; told = dip.VALUE", files=files) == 3


def test_shared_folders_are_read_only(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "inner").write_text("hello")
    tmp_path.chmod(0o755)  # called by root, the inside is another user
    code = """
    told = open("/shared/cache/inner").read()
    try:
        open("/shared/cache/other", "x")
        told = "written"
    except OSError:
        pass
    """
    assert tell(sandbox, code, shared={"cache": tmp_path}) == "hello"


LEAD_OUT = (
    "libc.unshare(0x10000000)",
    "libc.unshare(0x00020000)",
    "libc.ptrace(16, 1, 0, 0)",
    "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)",
    "libc.umount2(b'/job', 2)",
    "libc.syscall(425, 8, 0)",
    "libc.syscall(321, 0, 0, 0)",
    "libc.memfd_create(b'x', 0)",
    "libc.shmget(0, 4096, 0o1600)",
    "libc.setuid(0)",
    "libc.chroot(b'/tmp')",
)


def test_calls_that_lead_out_are_refused(sandbox: Sandbox) -> None:
    code = (
        f"import ctypes; libc = ctypes.CDLL(None, use_errno=True); told = [{', '.join(LEAD_OUT)}]"
    )
    answers = dict(zip(LEAD_OUT, tell(sandbox, code), strict=True))
    assert answers == dict.fromkeys(LEAD_OUT, -1)


def test_the_input_of_a_terminal_cannot_be_forged(sandbox: Sandbox) -> None:
    code = """
    import fcntl
    told = []
    for name in (0, 1, 2, "/dev/tty"):
        try:
            number = name if isinstance(name, int) else os.open(name, os.O_RDWR)
            fcntl.ioctl(number, 0x5412, b"x")
            told.append(name)
        except OSError:
            pass
    """
    assert tell(sandbox, code) == []


# --- limits


def test_an_endless_loop_ends_at_the_time_limit(sandbox: Sandbox) -> None:
    outcome = run(sandbox, "while True: pass", timeout_s=0.5)
    assert outcome.timed_out
    assert outcome.exit_code is None
    assert 0.5 <= outcome.seconds < 0.5 + GRACE_S


def test_sleeping_forever_with_signals_ignored_ends_at_the_time_limit(sandbox: Sandbox) -> None:
    code = """
    import signal, time
    for number in range(1, 64):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    print("before", flush=True)
    time.sleep(1000)
    """
    outcome = run(sandbox, code, timeout_s=4)
    assert outcome.timed_out
    assert outcome.stdout == b"before\n"
    assert outcome.seconds < 4 + GRACE_S


def test_a_job_that_closes_its_streams_is_still_timed(sandbox: Sandbox) -> None:
    code = "import os, time; [os.close(n) for n in (0, 1, 2)]; time.sleep(1000)"
    outcome = run(sandbox, code, timeout_s=0.5)
    assert outcome.timed_out
    assert outcome.seconds < 0.5 + GRACE_S


def test_orphans_die_with_the_job(sandbox: Sandbox) -> None:
    mark = f"orphan-{os.getpid()}-{time.monotonic_ns()}"
    code = f"""
    import os, sys
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for number in (0, 1, 2):
                    os.close(number)
                os.execv(sys.executable, [sys.executable, "-c",
                         "import time; time.sleep(1000)", {mark!r}])
            os._exit(0)
    import time
    time.sleep(0.3)
    print("parent leaves")
    """
    outcome = run(sandbox, code)
    assert outcome.stdout == b"parent leaves\n"
    assert outcome.exit_code == 0
    assert marked_processes(mark) == []


def test_orphans_die_with_the_time_limit(sandbox: Sandbox) -> None:
    mark = f"orphan-{os.getpid()}-{time.monotonic_ns()}"
    code = f"""
    import os, sys, time
    if os.fork() == 0:
        os.setsid()
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(1000)", {mark!r}])
    time.sleep(1000)
    """
    outcome = run(sandbox, code, timeout_s=0.7)
    assert outcome.timed_out
    assert marked_processes(mark) == []


def test_a_memory_bomb_stays_below_its_limit(limited: Sandbox) -> None:
    code = """
    kept = []
    while True:
        kept.append(bytearray(b"x") * 4_000_000)
    """
    outcome = run(limited, code, memory_mb=128, timeout_s=60)
    assert outcome.exit_code != 0
    assert not outcome.timed_out
    assert outcome.out_of_memory or b"MemoryError" in outcome.stderr


def test_memory_is_counted_over_all_processes(limited: Sandbox) -> None:
    code = """
    import os, time
    for _ in range(12):
        if os.fork() == 0:
            kept = bytearray(b"x") * 30_000_000
            time.sleep(1000)
    time.sleep(1000)
    """
    outcome = run(limited, code, memory_mb=128, timeout_s=60)
    assert outcome.out_of_memory


def test_a_fork_bomb_is_contained(limited: Sandbox) -> None:
    code = """
    import os, time
    made = 0
    try:
        for _ in range(200):
            if os.fork() == 0:
                time.sleep(1000)
            made += 1
    except OSError:
        pass
    print(made)
    """
    outcome = run(limited, code, processes=16)
    assert outcome.exit_code == 0
    assert 0 < int(outcome.stdout) <= 16


def test_a_wild_fork_bomb_ends_at_the_time_limit(limited: Sandbox) -> None:
    code = """
    import os
    while True:
        try:
            os.fork()
        except OSError:
            pass
    """
    outcome = run(limited, code, processes=24, timeout_s=1)
    assert outcome.timed_out
    assert outcome.seconds < 1 + GRACE_S


@pytest.mark.parametrize("folder", WRITABLE)
def test_a_disk_bomb_fills_only_its_own_small_disk(sandbox: Sandbox, folder: str) -> None:
    before = shutil.disk_usage(tempfile.gettempdir()).free
    code = f"""
    written = 0
    try:
        for number in range(10_000):
            with open(f"{folder}/{{number}}", "wb") as file:
                for _ in range(4):
                    written += file.write(bytes(1 << 18))
    except OSError:
        pass
    told = written
    """
    assert 1 << 20 < tell(sandbox, code, file_limit_mb=4) <= 4 << 20
    after = shutil.disk_usage(tempfile.gettempdir()).free
    assert before - after < 64 << 20  # other programs write too


def test_one_file_cannot_grow_beyond_the_limit(sandbox: Sandbox) -> None:
    code = """
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    told = 0
    try:
        os.truncate(os.open("/out/x", os.O_CREAT | os.O_RDWR), 1 << 40)
        told = "grown"
    except OSError:
        pass
    """
    assert tell(sandbox, code, file_limit_mb=2) == 0


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output_is_cut_at_its_limit(sandbox: Sandbox, stream: str) -> None:
    code = f"import sys; sys.{stream}.write('x' * 50_000)"
    outcome = run(sandbox, code, output_limit=10_000)
    assert getattr(outcome, stream) == b"x" * 10_000
    assert outcome.truncated
    assert outcome.exit_code == 0


def test_an_output_flood_ends_the_job(sandbox: Sandbox) -> None:
    code = "import os\nwhile True: os.write(1, b'x' * 65536)"
    outcome = run(sandbox, code, output_limit=100_000, timeout_s=60)
    assert len(outcome.stdout) == 100_000
    assert outcome.truncated
    assert outcome.exit_code is None
    assert not outcome.timed_out


# --- what is read back


def test_links_out_of_the_output_folder_are_not_followed(sandbox: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("swordfish")
    code = f"""
    os.symlink({str(secret)!r}, "/out/link")
    os.symlink({str(tmp_path)!r}, "/out/folder")
    os.symlink("/proc/self/environ", "/out/environ")
    os.symlink("real", "/out/inner")
    open("/out/real", "w").write("x")
    os.mkdir("/out/directory")
    told = 1
    """
    collect = ("link", "folder/secret", "environ", "inner", "directory")
    lines = "import json, os, sys\n" + textwrap.dedent(code)
    outcome = run(sandbox, lines, collect=collect)
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.outputs == {}
    assert set(outcome.refused) == set(collect)


def test_pipes_devices_and_sockets_are_not_read(sandbox: Sandbox) -> None:
    code = """
    import os
    os.mkfifo("/out/pipe")
    try:
        os.mknod("/out/device", 0o20666, os.makedev(1, 5))
    except OSError:
        pass
    """
    outcome = run(sandbox, code, collect=("pipe", "device"))
    assert outcome.outputs == {}
    assert set(outcome.refused) == {"pipe", "device"}


def test_an_output_beyond_the_limit_is_refused_with_its_size(sandbox: Sandbox) -> None:
    code = """
    for name in ("one", "two"):
        with open("/out/" + name, "wb") as file:
            file.truncate(1_000_000)
    """
    outcome = run(sandbox, code, collect=("one", "two"), file_limit_mb=1)
    assert len(outcome.outputs["one"]) == 1_000_000
    assert "1000000 bytes" in outcome.refused["two"]


def test_outputs_written_before_a_kill_are_still_read(sandbox: Sandbox) -> None:
    code = "open('/out/x', 'w').write('early')\nwhile True: print('x' * 65536)"
    outcome = run(sandbox, code, collect=("x",), timeout_s=60)
    assert outcome.exit_code is None
    assert outcome.outputs == {"x": b"early"}


# --- nothing is left


def test_nothing_is_left_behind_on_the_host(sandbox: Sandbox) -> None:
    before = set(os.listdir(tempfile.gettempdir()))
    descriptors = len(os.listdir("/proc/self/fd"))
    mark = f"left-{os.getpid()}-{time.monotonic_ns()}"
    for code in ("open('/tmp/x', 'w')", "while True: pass", "1/0"):
        run(sandbox, f"# {mark}\n{code}", timeout_s=0.5, files={"a": b"x"})
    assert marked_processes(mark) == []
    assert len(os.listdir("/proc/self/fd")) == descriptors
    new = set(os.listdir(tempfile.gettempdir())) - before
    # Other processes may be at work in the same folder.
    assert not [name for name in new if f"stratwright-job-{os.getpid()}-" in name]
