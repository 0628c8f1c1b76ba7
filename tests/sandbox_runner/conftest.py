"""The sandboxes of this machine, each of which must pass the same tests."""

import os
from dataclasses import replace

import pytest

from sandbox_runner.docker.docker_engine import open_docker
from sandbox_runner.namespace.namespace_sandbox import NamespaceSandbox
from sandbox_runner.port import Sandbox, SandboxUnavailable, open_sandbox

PROVIDERS = ("docker", "bubblewrap", "util-linux")
# Without control groups limits rest on process limits and a watch from outside.
MEMORY_KEEPERS = (*PROVIDERS, "bubblewrap, no control group")


def open_or_skip(kind: str) -> Sandbox:
    name, _, without_group = kind.partition(",")
    try:
        # tools/with_docker.sh names an engine for the tests alone; else the usual one is taken.
        test_engine = os.environ.get("STRATWRIGHT_TEST_ENGINE") if name == "docker" else None
        sandbox = open_docker(test_engine) if test_engine else open_sandbox(name)
    except SandboxUnavailable as error:
        pytest.skip(f"{name}: {error.message}")
    if without_group:
        assert isinstance(sandbox, NamespaceSandbox)
        sandbox = replace(sandbox, control_group=lambda memory_mb, processes: None)
    return sandbox


@pytest.fixture(params=PROVIDERS)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return open_or_skip(request.param)


@pytest.fixture(params=MEMORY_KEEPERS)
def limited(request: pytest.FixtureRequest) -> Sandbox:
    return open_or_skip(request.param)
