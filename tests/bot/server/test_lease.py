import subprocess
import sys
from pathlib import Path

import pytest

from bot.server.lease import hold_lock, is_alive
from tests.bot.workflow.hub import HOUSE


def test_the_lock_of_a_worker_ends_with_its_process(tmp_path: Path) -> None:
    script = (
        "import sys, time, pathlib\n"
        "from bot.server.lease import hold_lock\n"
        "kept = hold_lock(pathlib.Path(sys.argv[1]), 'w')\n"
        "print('held', flush=True)\n"
        "time.sleep(60)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, cwd=HOUSE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    assert is_alive(tmp_path, "w")
    with pytest.raises(BlockingIOError):
        hold_lock(tmp_path, "w")
    process.kill()
    process.wait()
    process.stdout.close()
    assert not is_alive(tmp_path, "w")
    assert not is_alive(tmp_path, "never-was")


def test_the_server_does_not_load_what_its_workers_work_with() -> None:
    script = "import sys, bot.server.serving; print({'pandas', 'github'} & {*sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=HOUSE, capture_output=True, check=True
    )
    assert done.stdout == b"set()\n"
