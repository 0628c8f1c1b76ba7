"""The peers, each in an environment of its own under build/peers."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
PEERS = ROOT / "build" / "peers"
PACKAGES = {
    "raptorbt": ("raptorbt", "numpy"),
    "vectorbt": ("vectorbt", "TA-Lib"),
    "backtesting": ("backtesting", "TA-Lib"),
    "nautilus_trader": ("nautilus_trader", "TA-Lib"),
    "jesse": ("jesse", "TA-Lib"),
    "freqtrade": ("freqtrade",),
    "backtrader": ("backtrader", "TA-Lib", "pandas"),
}
INSTALL_LIMIT_S = 900


def python_of(peer: str) -> Path:
    """The interpreter of a peer's environment."""
    return PEERS / peer / "bin" / "python"


def driver_of(peer: str) -> Path:
    """The file that does the works with a peer."""
    return HERE / f"peer_{peer}.py"


def install(peer: str) -> str | None:
    """Make a peer's environment unless it is there; what went wrong, if something did."""
    folder, ready = PEERS / peer, PEERS / peer / ".ready"
    wanted = " ".join(PACKAGES[peer])
    if ready.exists() and ready.read_text("utf-8") == wanted:
        return None
    pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES[peer])
    for command in (
        (sys.executable, "-m", "venv", "--clear", str(folder)),
        (str(python_of(peer)), *pip),
    ):
        trouble = _trouble(command)
        if trouble:
            return trouble
    ready.write_text(wanted, "utf-8")
    return None


def _trouble(command: tuple[str, ...]) -> str | None:
    """Run a command; the last line that it complained with, if it failed."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=INSTALL_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return f"not done after {INSTALL_LIMIT_S} s"
    if done.returncode == 0:
        return None
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else f"exit code {done.returncode}"


def version_of(peer: str) -> str:
    """The version that is installed."""
    code = f"import importlib.metadata as m; print(m.version({PACKAGES[peer][0]!r}))"
    command = (str(python_of(peer)), "-c", code)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
