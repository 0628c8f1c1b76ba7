"""Remembers which commit this product wrote from which inputs, so that an unchanged run ends soon.

A Git commit's id stands for every byte below it. Where the same product, with the same tools, reads
the same contract, candles and settings again, and the tag still names the object that it wrote or
compared byte for byte, another writing and proving would end at the same commit. The record lies in
the user's own cache, which neither a sandbox nor a push reaches; anything doubtful in it counts as
never seen, and `--fresh` asks for everything again. `verify` and the jobs on GitHub never read it.
"""

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.errors import StratwrightError
from bot.files import write_files
from bot.gates.port import Verdict
from bot.git.proposal import Proposed
from bot.git.repository import Repository
from bot.proof.assignment import Assignment
from bot.proof.product import product_digest
from sandbox_runner.answer_cache import environment_digest, installed

_MOST_BYTES = 1_000_000
_MOST_RECORDS = 500


class Record(BaseModel):
    """Holds what a run wrote."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    question: str  # the digest of everything that decides what is written
    tag: str
    tag_object: str  # the tag's own id in Git, which covers its words and its commit
    commit: str
    body: str  # the pull request's text
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True)
class ComparedBefore:
    """Keeps records in a folder."""

    folder: Path  # where they lie
    settings: bytes  # the repository's settings, which name the coder
    sandbox: str  # the kind of sandbox that was asked for
    fresh: bool = False  # whether nothing is to be recalled, only kept

    def recall(self, work: Assignment, tag: str, repository: Repository) -> Record | None:
        """Give the record of a tag that still is what was written, on a commit of the base."""
        if self.fresh:
            return None
        question = self._question(work)
        try:
            path = self.folder / question
            content = path.read_bytes() if path.stat().st_size <= _MOST_BYTES else b""
            found = Record.model_validate_json(content)
        except (OSError, ValidationError):
            return None
        there = repository.objects.find(f"refs/tags/{tag}")
        if (found.question, found.tag) != (question, tag) or not there:
            return None
        if there.id != found.tag_object or repository.commit_of(there.id) != found.commit:
            return None
        parents = repository.parents(found.commit)
        return found if repository.is_in(parents[0], repository.base().commit) else None

    def keep(
        self,
        work: Assignment,
        done: Proposed,
        body: str,
        verdicts: tuple[Verdict, ...],
        repository: Repository,
    ) -> None:
        """Write down what a run wrote; a disk that does not take it costs only time."""
        there = repository.objects.find(f"refs/tags/{done.tag}")
        if there is None:
            return
        question = self._question(work)
        written = Record(
            question=question,
            tag=done.tag,
            tag_object=there.id,
            commit=done.commit,
            body=body,
            verdicts=verdicts,
        )
        with suppress(StratwrightError, OSError):
            write_files(self.folder, {question: written.model_dump_json()})
            oldest_first = sorted(self.folder.iterdir(), key=lambda path: path.stat().st_mtime)
            for path in oldest_first[:-_MOST_RECORDS]:
                path.unlink()

    def _question(self, work: Assignment) -> str:
        """Digest everything that decides what is written."""
        origin = work.origin
        parts = (
            origin.correlation_id,
            origin.contract_path,
            hashlib.sha256(origin.contract_bytes).hexdigest(),
            work.data.digest,
            *work.data.files,
            *work.targets.notes,
            work.targets.freqtrade_version,
            *(installed(work.targets.packages) if work.targets.packages else ()),
            hashlib.sha256(self.settings).hexdigest(),
            work.answers.signature if work.answers else "",
            self.sandbox,
            product_digest(),
            environment_digest(),
        )
        return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()
