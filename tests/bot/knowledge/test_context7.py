"""The real Context7 server, against a backend on loopback, is asked after the brain."""

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from bot.cli import main
from bot.knowledge.context7 import KEPT_S, SILENT_S, Context7, open_context7
from bot.knowledge.layers import SURE, Layers
from bot.knowledge.port import open_knowledge

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "build/npm/context7/node_modules/.bin/context7-mcp"
UNKNOWN = "ccxt zebra umbrella protocol"
DOCS = "### zebra\n\nccxt.zebra(umbrella) opens the umbrella.\n" + "More words of it.\n" * 500


class Backend(ThreadingHTTPServer):
    """Stands for Context7's own service."""

    daemon_threads = True

    def __init__(self):
        self.asked, self.found, self.status = [], True, 200
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        place = urlsplit(self.path)
        given = {key: values[0] for key, values in parse_qs(place.query).items()}
        self.server.asked.append((place.path, given))
        library = {"id": "/ccxt/ccxt", "title": "CCXT", "description": "", "totalSnippets": 9,
                   "trustScore": 9, "versions": [], "benchmarkScore": 90, "stars": 1,
                   "lastUpdateDate": "2026-11-01", "branch": "master", "state": "finalized",
                   "totalTokens": 1000}  # fmt: skip
        results = {"results": [library] if self.server.found else []}
        body = (json.dumps(results) if place.path.endswith("search") else DOCS).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json" if body[:1] == b"{" else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def backend(monkeypatch, tmp_path):
    if not PROGRAM.exists():
        pytest.skip("make npm brings Context7's server")
    server = Backend()
    monkeypatch.setenv("CONTEXT7_API_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("STRATWRIGHT_CONTEXT7", str(PROGRAM))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CONTEXT7_API_KEY", raising=False)
    yield server
    server.shutdown()
    server.server_close()


def test_two_tools_resolve_a_question_and_the_budget_holds(backend):
    (answer,) = Context7(str(PROGRAM)).search(UNKNOWN, "ccxt", 100)
    assert [path for path, _ in backend.asked] == ["/v2/libs/search", "/v2/context"]
    assert backend.asked[0][1] == {"query": UNKNOWN, "libraryName": "ccxt"}
    assert backend.asked[1][1]["libraryId"] == "/ccxt/ccxt"
    assert answer.text.startswith("### zebra")
    assert answer.source == "Context7 /ccxt/ccxt"
    assert answer.tokens <= 100


def test_an_answer_is_kept_until_it_is_too_old(backend):
    clock = [1_000_000.0]
    context7 = Context7(str(PROGRAM), lambda: clock[0])
    first = context7.search(UNKNOWN, "ccxt", 200)
    clock[0] += KEPT_S - 1
    assert context7.search(UNKNOWN, "ccxt", 200) == first
    assert len(backend.asked) == 2
    clock[0] += 1
    assert context7.search(UNKNOWN, "ccxt", 200) == first
    assert len(backend.asked) == 4


def test_a_damaged_cache_is_asked_again(backend):
    context7 = Context7(str(PROGRAM))
    first = context7.search(UNKNOWN, "ccxt", 200)
    (kept,) = (Path(os.environ["XDG_CACHE_HOME"]) / "stratwright/context7").iterdir()
    kept.write_text('{"at": "soon", "found": 7}')
    assert context7.search(UNKNOWN, "ccxt", 200) == first


@pytest.mark.parametrize("trouble", ["refused", "500", "no library", "no program"])
def test_what_cannot_be_reached_is_silent_and_left_alone(backend, monkeypatch, capfd, trouble):
    program = "/nowhere/context7-mcp" if trouble == "no program" else str(PROGRAM)
    if trouble == "refused":
        monkeypatch.setenv("CONTEXT7_API_URL", "http://127.0.0.1:1")
    backend.status, backend.found = 500 if trouble == "500" else 200, trouble != "no library"
    clock = [1_000_000.0]
    context7 = Context7(program, lambda: clock[0])
    assert context7.search(UNKNOWN, "ccxt", 200) == ()
    asked = len(backend.asked)
    clock[0] += SILENT_S - 1
    assert context7.search(UNKNOWN, "ccxt", 200) == ()
    assert len(backend.asked) == asked
    assert capfd.readouterr() == ("", "")


def repository(folder, settings):
    (folder / ".git").mkdir(parents=True)
    (folder / "stratwright.yml").write_text(settings)
    return str(folder)


def test_the_command_asks_it_only_where_settings_say_so(backend, tmp_path, capsys):
    off = repository(tmp_path / "off", 'version: "1.0"\n')
    on = repository(tmp_path / "on", 'version: "1.0"\nbrain: {context7: true}\n')
    given = ["brain", "search", UNKNOWN, "--json", "--tokens", "600", "--repository"]
    assert main([*given, off]) == 0
    before = json.loads(capsys.readouterr().out)
    assert backend.asked == []
    assert main([*given, on]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [item["page"] for item in told["passages"]][-1] == "Context7"
    assert sum(item["tokens"] for item in told["passages"]) <= 600
    assert told["digest"] != before["digest"]


def test_what_the_brain_knows_is_asked_nowhere_else(backend):
    layers = Layers(open_knowledge(), open_context7(), ())
    found = layers.search("talib RSI")
    assert found[0].symbol == "RSI"
    assert found[0].score >= SURE
    assert backend.asked == []
