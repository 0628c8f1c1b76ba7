"""Turns YAML text into a plain tree: one document, no tags, anchors, aliases or merge keys."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from bot.contract.document.characters import describe, first_hidden
from bot.contract.document.problems import Flaw, Unreadable, Where, shown
from bot.contract.document.scalars import NotANumber, resolve
from bot.contract.document.source import Draft, Span

# An event of PyYAML; its stubs call the marks optional, which every event of a text has.
Event = Any


def read_yaml(draft: Draft) -> object:
    """Read the only document of a text; flaws that allow going on are noted in the draft."""
    return _Reader(draft).document()


def _events(text: str) -> Iterator[Event]:
    """Give PyYAML's events; whatever goes wrong inside PyYAML is a flaw of the text."""
    try:
        yield from yaml.parse(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Unreadable(Flaw(mark.index if mark else 0, _explain(error))) from None
    except yaml.reader.ReaderError as error:
        raise Unreadable(Flaw(error.position, f"not readable as YAML: {error.reason}")) from None
    except (ValueError, OverflowError, LookupError, TypeError, AttributeError, RecursionError):
        # Escapes such as "\UFFFFFFFF" and odd directives end here; PyYAML does not place them.
        raise Unreadable(Flaw(0, "not readable as YAML: an escape or directive is wrong")) from None


def _explain(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "unexpected text"
    message = f"not readable as YAML: {problem}"
    if error.context:
        message += f" ({error.context})"
    if "'\\t'" in problem:
        message += "; indent with spaces, not tabs"
    elif "mapping values are not allowed" in problem:
        message += '; quote text that contains ": "'
    return message


def _with_whole_expressions(text: str) -> Iterator[Event]:
    """Give the events, with expressions whole that commas inside `{ }` have cut.

    YAML ends a plain value at a comma, so `{expression: mean(hl2, 5)}` arrives in pieces: a value
    with an open bracket, then keys without values. They are put together again.
    """
    events = _events(text)
    waiting: deque[Event] = deque()
    open_collections: list[_Place] = []
    while waiting or (event := next(events, None)) is not None:
        if waiting:
            event = waiting.popleft()
        inside = open_collections[-1] if open_collections else None
        if inside is not None and inside.is_value_of_flow and _opens(event) > 0:
            event, left_over = _joined(event, events, text)
            waiting.extend(left_over)
        if isinstance(event, yaml.CollectionEndEvent):
            open_collections.pop()
        elif inside is not None:
            inside.at_key = not inside.at_key
        if isinstance(event, yaml.CollectionStartEvent):
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            open_collections.append(_Place(is_mapping and bool(event.flow_style)))
        yield event


@dataclass
class _Place:
    """Says where the reader is in an open collection; only flow mappings matter."""

    flow_mapping: bool
    at_key: bool = True

    @property
    def is_value_of_flow(self) -> bool:
        return self.flow_mapping and not self.at_key


def _opens(event: Event) -> int:
    """Says how many brackets a plain scalar leaves open."""
    if not isinstance(event, yaml.ScalarEvent) or event.style is not None:
        return 0
    return int(event.value.count("(") - event.value.count(")"))


def _joined(first: Event, events: Iterator[Event], text: str) -> tuple[Event, list[Event]]:
    """Gives the whole expression, or the first piece and what was read in vain."""
    read: list[Event] = []
    depth = _opens(first)
    while depth > 0:
        for _ in range(2):
            read.append(next(events))
            if not isinstance(read[-1], yaml.ScalarEvent) or read[-1].style is not None:
                return first, read
        key, value = read[-2:]
        if value.value or value.start_mark.index != value.end_mark.index:
            return first, read
        depth += _opens(key)
    start, end = first.start_mark, read[-2].end_mark
    whole = " ".join(text[start.index : end.index].split())
    return yaml.ScalarEvent(first.anchor, first.tag, first.implicit, whole, start, end), []


class _Reader:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.events = _with_whole_expressions(draft.text)

    def document(self) -> object:
        next(self.events)
        start = next(self.events)
        if isinstance(start, yaml.StreamEndEvent):
            return None
        if start.tags or start.version:
            self.draft.refuse(start.start_mark.index, "YAML directives (%) are not allowed", ())
        root = self.node(next(self.events), ())
        next(self.events)
        after = next(self.events)
        if not isinstance(after, yaml.StreamEndEvent):
            message = "a second document starts here; one file holds one contract"
            raise Unreadable(Flaw(after.start_mark.index, message))
        return root

    def node(self, event: Event, where: Where) -> object:
        index = event.start_mark.index
        self.draft.enter(where, index)
        style = getattr(event, "style", None) or ""
        self.draft.values.setdefault(where, Span(index, event.end_mark.index, style))
        if isinstance(event, yaml.AliasEvent):
            self.draft.refuse(index, f"aliases (*{shown(event.anchor)}) are not allowed", where)
            return None
        if event.anchor is not None:
            self.draft.refuse(index, f"anchors (&{shown(event.anchor)}) are not allowed", where)
        if event.tag is not None:
            self.draft.refuse(index, f"tags ({shown(event.tag)}) are not allowed", where)
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(where)
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(where)
        return self.scalar(event, where)

    def mapping(self, where: Where) -> dict[str | int, object]:
        result: dict[str | int, object] = {}
        lines: dict[str, int] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.key(event, where)
            if key is None:
                self.skip(next(self.events), where)
                continue
            line = event.start_mark.line + 1
            if str(key) in lines:
                message = f'duplicate key "{shown(key)}"; it was given on line {lines[str(key)]}'
                self.draft.refuse(event.start_mark.index, message, (*where, key))
                self.skip(next(self.events), where)
                continue
            lines[str(key)] = line
            span = Span(event.start_mark.index, event.end_mark.index)
            self.draft.keys[(*where, key)] = span
            result[key] = self.node(next(self.events), (*where, key))
        return result

    def sequence(self, where: Where) -> list[object]:
        result: list[object] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            result.append(self.node(event, (*where, len(result))))
        return result

    def key(self, event: Event, where: Where) -> str | int | None:
        """Read a mapping's key; None if it was refused."""
        index = event.start_mark.index
        self.draft.enter(where, index)
        if not isinstance(event, yaml.ScalarEvent):
            self.draft.refuse(index, "a key is a word, not a list, mapping or alias", where)
            self.skip(event, where)
            return None
        if event.value == "<<" and event.style is None:
            self.draft.refuse(index, "merge keys (<<) are not allowed; repeat the lines", where)
            return None
        if event.anchor is not None or event.tag is not None:
            self.draft.refuse(index, "anchors and tags are not allowed on keys", where)
        key = self.scalar(event, where)
        if isinstance(key, bool) or not isinstance(key, str | int):
            if not self.draft.flaws or self.draft.flaws[-1].index != index:
                message = f"the key {shown(event.value) or '(nothing)'} is not text; quote it"
                self.draft.refuse(index, message, where)
            return None
        return key

    def scalar(self, event: Event, where: Where) -> object:
        index = event.start_mark.index
        if hidden := first_hidden(event.value):
            self.draft.refuse(index, f"the text holds {describe(hidden)}; delete it", where)
            return None
        if event.style is not None:
            return event.value
        try:
            return resolve(event.value)
        except NotANumber as error:
            self.draft.refuse(index, str(error), where)
            return None

    def skip(self, event: Event, where: Where) -> None:
        """Pass over a node that has no place in the tree; the limits hold for it too."""
        inside = where
        while True:
            self.draft.enter(inside, event.start_mark.index)
            if isinstance(event, yaml.CollectionStartEvent):
                inside = (*inside, 0)
            elif isinstance(event, yaml.CollectionEndEvent):
                inside = inside[:-1]
            if inside == where:
                return
            event = next(self.events)
