"""The filter of system calls is a well-formed program for the processors it knows."""

import struct

import pytest

from sandbox_runner.namespace.syscalls import DENIED, UnknownMachine, build_filter


def verdict(machine: str, architecture: int, number: int, argument: int = 0) -> int:
    """Interpret the filter as the kernel would."""
    words = {0: number, 4: architecture, 16: argument}
    program = list(struct.iter_unpack("=HBBI", build_filter(machine)))
    position, value = 0, 0
    while True:
        code, yes, no, operand = program[position]
        position += 1
        if code == 0x20:
            value = words[operand]
        elif code == 0x06:
            return operand
        else:
            true = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}
            position += yes if true[code] else no


ALLOW, KILL, EPERM, ENOSYS = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
MACHINES = [("x86_64", 0xC000003E, 0), ("aarch64", 0xC00000B7, 1)]


@pytest.mark.parametrize(("machine", "architecture", "column"), MACHINES)
def test_every_listed_call_is_refused_and_others_pass(
    machine: str, architecture: int, column: int
) -> None:
    denied = {numbers[column] for numbers in DENIED.values()}
    clone = (56, 220)[column]
    for number in range(500):
        expected = EPERM if number in denied else ENOSYS if number == 435 else ALLOW
        assert verdict(machine, architecture, number) == expected
    assert verdict(machine, architecture, clone, 0x10000000 | 17) == EPERM
    assert verdict(machine, architecture, clone, 0x003D0F00) == ALLOW  # a thread


def test_another_architecture_s_calls_end_the_process() -> None:
    assert verdict("x86_64", 0x40000003, 1) == KILL
    assert verdict("x86_64", 0xC000003E, 0x40000001) == EPERM


def test_an_unknown_processor_is_refused() -> None:
    with pytest.raises(UnknownMachine, match="riscv64"):
        build_filter("riscv64")
