"""Rebuilds a tag's candidate from the answers that are stored with it; no model is asked."""

import json
from dataclasses import dataclass
from pathlib import Path

from bot.coder.model.file_coder import candidate_of, session_trouble
from bot.coder.model.replay import replay_trouble
from bot.coder.model.session import SESSION, SESSION_SIGNATURE, Session, read_session
from bot.coder.model.transcript import (
    SIGNATURE,
    TRANSCRIPT,
    Transcript,
    by_answers,
    read_transcript,
)
from bot.coder.template.template_coder import TemplateCoder
from bot.contract.load import FORMS, LoadedContract, parse_contract
from bot.errors import InputError
from bot.git.repository import Repository
from bot.proof.answers import as_asked, is_of, is_signed, is_signed_by
from bot.proof.assignment import Answers
from bot.proof.evidence import PROVENANCE
from bot.proof.findings import Stop
from bot.proof.seal_check import SealCheck


@dataclass(frozen=True)
class Replayed:
    """Says what came of a replay; `trouble` is empty where every byte came out the same."""

    transcript: Transcript | Session
    signed: bool
    files: tuple[str, ...]
    trouble: str = ""


def replay_tag(tag: str, repository: Repository, signers: tuple[str, ...]) -> Replayed:
    """Ask the stored answers again, write the candidate, and compare it with the tag's.

    Raises:
        InputError: there is no such tag, or no model took part in it.
    """
    commit = repository.commit_of(f"refs/tags/{tag}")
    if not commit:
        raise InputError(f"there is no tag {tag}", "List them with: git tag --list 'ai/*'")
    sealed = SealCheck(tag, commit, repository)
    try:
        wrong = [finding for finding in sealed.check() if not finding.holds]
        found = sealed.held(f"{sealed.folder}/{TRANSCRIPT}")
        written = sealed.held(f"{sealed.folder}/{SESSION}")
    except Stop as stop:
        raise InputError(f"{tag} cannot be read: {stop.finding.detail}") from None
    if wrong:
        raise InputError(f"{tag} cannot be replayed: {wrong[0].name}: {wrong[0].detail}")
    if written is not None:
        return _replay_session(sealed, read_session(written), signers)
    if found is None:
        hint = "stratwright verify computes everything of such a tag again."
        raise InputError(f"no model took part in {tag}: it has no {TRANSCRIPT}", hint)
    signature = (sealed.held(f"{sealed.folder}/{SIGNATURE}") or b"").decode("ascii", "replace")
    answers = Answers(read_transcript(found), signature)
    path = Path(sealed.claim.contract_path)
    loaded = parse_contract(sealed.read(path.as_posix()), FORMS[path.suffix.lower()], path)
    files, trouble = _compare(sealed, loaded, answers.transcript)
    return Replayed(answers.transcript, is_signed(answers, signers), files, trouble)


def _replay_session(sealed: SealCheck, session: Session, signers: tuple[str, ...]) -> Replayed:
    """Carry out the stored calls again, and compare the files with the tag's."""
    path = Path(sealed.claim.contract_path)
    data, form = sealed.read(path.as_posix()), FORMS[path.suffix.lower()]
    contract = parse_contract(data, form, path, models=True).strategy
    signature = (sealed.held(f"{sealed.folder}/{SESSION_SIGNATURE}") or b"").decode(
        "ascii", "replace"
    )
    contents = candidate_of(session, "").contents
    trouble = session_trouble(session, contract, path.as_posix())
    delivered = {p: c for p, c in contents.items() if p in sealed.claim.subjects}
    odd = [p for p, content in delivered.items() if sealed.held(p) != content]
    trouble = trouble or (f"{odd[0]} comes out otherwise" if odd else "")
    signed = is_signed_by(signature, session.digest, signers)
    return Replayed(session, signed, tuple(delivered), trouble)


def _compare(
    sealed: SealCheck, loaded: LoadedContract, transcript: Transcript
) -> tuple[tuple[str, ...], str]:
    """The candidate's files, and what does not follow from the stored answers."""
    if not is_of(loaded, transcript):
        return (), "the contract's expressions are not those of the transcript"
    trouble = replay_trouble(as_asked(loaded.source.root or {}, transcript), transcript)
    if trouble:
        return (), trouble
    written = TemplateCoder().write(loaded.contract, sealed.claim.contract_path)
    candidate = by_answers(written, transcript)
    delivered = {p: c for p, c in candidate.contents.items() if p in sealed.claim.subjects}
    differing = [path for path, content in delivered.items() if sealed.held(path) != content]
    said = json.loads(sealed.read(f"{sealed.folder}/{PROVENANCE}"))["predicate"]["prompt_hash"]
    if differing or not delivered:
        return tuple(delivered), f"{(*differing, 'the candidate')[0]} comes out otherwise"
    return tuple(delivered), "" if said == candidate.prompt_hash else "prompt_hash is another"
