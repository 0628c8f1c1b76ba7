"""Opens the edges that a line works with, by the names in settings and on the command line."""

import os
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bot.bus.port import open_bus
from bot.coder.port import Coder
from bot.contract.model import AnyContract
from bot.errors import MANUAL, InputError, WorldError
from bot.files import cache_folder
from bot.forge.port import open_forge
from bot.gates.freqtrade.installation import find_freqtrade
from bot.git.repository import open_repository
from bot.logs import log_file, set_up
from bot.progress import Progress
from bot.proof.compared_before import ComparedBefore
from bot.proof.edges import Ask, Prover, Workshop
from bot.settings import FILE, CoderSettings, Settings, parse_settings
from sandbox_runner.answer_cache import Memory
from sandbox_runner.mypy_cache import warm_cache
from sandbox_runner.port import KINDS, Sandbox, SandboxUnavailable, open_sandbox

if TYPE_CHECKING:
    from bot.coder.model.agent_coder import Asking
    from bot.coder.model.file_coder import Bench
    from bot.coder.model.session import Session
    from bot.coder.model.transcript import Transcript

MODEL_KEY = "ANTHROPIC_API_KEY"
SIGNING_KEY = "STRATWRIGHT_SIGNING_KEY"


def open_workshop(
    place: Path,
    *,
    forge: str = "local",
    sandbox: str = "auto",
    regenerate: bool = False,
    require_targets: bool = False,
    fresh: bool = False,
    progress: Progress | None = None,
) -> Workshop:
    """Open everything a line needs, or say what is missing; without a progress nothing is shown.

    Raises:
        InputError: the place is no usable repository.
        WorldError: nothing here can isolate generated code.
    """
    shown = progress or Progress(quiet=True)
    repository = open_repository(place)
    written = repository.read(repository.base().commit, FILE)
    settings = parse_settings(written)
    if sandbox not in KINDS:
        opened_sandbox(sandbox)  # says which there are
    set_up(log_file(repository.folder))
    sessions = repository.folder / "sessions"

    def bench_of(contract: AnyContract) -> "Bench":
        from bot.coder.model.client import MessagesApi
        from bot.coder.model.file_coder import Bench
        from bot.proof.sessions import adopt, readable_files

        def adopted(asked: str) -> "tuple[Session, str] | None":
            signers = settings.coder.signers
            return None if regenerate else adopt(contract, asked, repository, sessions, signers)

        return Bench(
            settings.coder,
            MessagesApi,
            shown.say,
            adopted,
            lambda: readable_files(repository),
            sign_digest,
            root=repository.root,
        )

    return Workshop(
        repository=repository,
        forge=open_forge(forge, repository),
        bus=open_bus(repository.folder, repository.repository_id),
        open_coder=lambda contract: open_coder(contract, settings, bench_of(contract)),
        open_prover=cache(lambda: open_prover(sandbox, shown, open_memory(fresh=fresh))),
        compared=ComparedBefore(cache_folder() / "written", written or b"", sandbox, fresh),
        regenerate=regenerate,
        freqtrade=find_freqtrade(),
        require_targets=require_targets or settings.require_targets,
        say=shown.say,
        ask=open_asking(settings.coder, shown.say),
        kept_answers=repository.folder / "answers",
        kept_sessions=sessions,
        sign=sign_digest,
        signers=settings.coder.signers,
    )


def may_ask(settings: CoderSettings) -> bool:
    """Say whether the settings let a model be asked."""
    return settings.enabled and settings.type != "template"


def open_asking(settings: CoderSettings, say: Callable[[str], None]) -> Ask | None:
    """Open what asks a model about prose; None where the settings or the machine have none."""
    if not may_ask(settings) or not os.environ.get(MODEL_KEY):
        return None

    def ask(root: Mapping[str | int, object]) -> "Transcript":
        say(f"asking {settings.model} what the rules in prose mean")
        return asking_with(settings).ask(root)

    return ask


def asking_with(settings: CoderSettings, key: str = "", ledger: Path | None = None) -> "Asking":
    """Open a model, by default with the environment's key and this user's own ledger.

    The SDK is imported with the first question.
    """
    from bot.coder.model.agent_coder import Asking
    from bot.coder.model.client import MessagesApi

    return Asking(settings, lambda: MessagesApi(key=key), ledger=ledger)


def sign_digest(digest: str, key: str = "") -> str:
    """Sign a transcript's digest with the bot's key, else the environment's; empty without one.

    Raises:
        InputError: the key is none, or has a passphrase.
    """
    text = key or os.environ.get(SIGNING_KEY)
    if not text:
        return ""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_ssh_private_key

    from bot.approval.sshsig import sign
    from bot.proof.answers import NAMESPACE

    hint = "Make one without a passphrase: ssh-keygen -t ed25519 -N '' -f bot_key"
    try:
        private = load_ssh_private_key((text.strip() + "\n").encode(), None)
    except (ValueError, TypeError):
        raise InputError(f"{SIGNING_KEY} is not a private SSH key", hint) from None
    if not isinstance(private, Ed25519PrivateKey):
        raise InputError(f"{SIGNING_KEY} is no Ed25519 key", hint)
    return sign(private, digest.encode(), NAMESPACE)


def open_coder(contract: AnyContract, settings: Settings, bench: "Bench | None" = None) -> Coder:
    """Open the coder that a contract and the settings name; nobody else's word counts.

    The template writes the code unless the contract itself names a model: what a model says of
    prose stands in the contract by then.

    Raises:
        InputError: the contract wants a model, and none may be asked here.
    """
    if contract.coder not in ("agent", "cli"):
        from bot.coder.template.template_coder import TemplateCoder

        return TemplateCoder()
    from bot.coder.model.cli_coder import CliCoder
    from bot.coder.model.file_coder import FileCoder

    if bench is None or not settings.coder.enabled or settings.coder.type == "template":
        message = f"coder: {contract.coder} lets a model write the code, and none may be asked here"
        raise InputError(message, f"Write coder: auto, or see {MANUAL}/models.md.")
    return CliCoder(bench) if contract.coder == "cli" else FileCoder(bench)


def open_prover(
    sandbox: str = "auto",
    told: Callable[[str], None] | Progress = lambda line: None,
    memory: Memory | None = None,
) -> Prover:
    """Open what the gates need; without a memory, everything is run again.

    Args:
        sandbox: its kind.
        told: is given a line for each part that ends; a Progress also counts them.
        memory: what was asked before.

    Raises:
        WorldError: nothing here can isolate generated code.
    """
    opened = opened_sandbox(sandbox)
    if isinstance(told, Progress):
        cache = warm_mypy_cache(told.say)
        return Prover(opened, cache, memory=memory, say=told.part, expect=told.expect)
    return Prover(opened, warm_mypy_cache(told), memory=memory, say=told)


def opened_sandbox(kind: str) -> Sandbox:
    """Open the sandbox, proven to isolate.

    Raises:
        WorldError: there is none.
    """
    try:
        return open_sandbox(kind)
    except SandboxUnavailable as error:
        raise WorldError(error.message, error.hint) from None
    except ValueError as error:
        raise InputError(str(error)) from None


def open_memory(*, fresh: bool = False) -> Memory:
    """Open what the sandbox answered before, on this machine and for this user."""
    return Memory(cache_folder() / "answers", fresh)


def warm_mypy_cache(say: Callable[[str], None]) -> Path | None:
    """Warm mypy's cache of the libraries; without one mypy takes ten seconds longer."""
    folder = cache_folder()
    if not any(folder.glob("mypy-*")):
        say("reading the libraries' types for mypy, once")
    try:
        return warm_cache(folder)
    except OSError as error:
        say(f"no cache for mypy: {error}")
        return None


def say_on_terminal(line: str) -> None:
    """Show a line of progress beside the results."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
