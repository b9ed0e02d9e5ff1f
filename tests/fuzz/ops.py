# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs of QEMU's generic fuzzer (tests/qtest/fuzz/generic_fuzz.c there), as a program writes them.

An input is a list of operations with the word FUZZ between them. Registers are
written and read by their offset in one of the device's regions, counted in the
order of their addresses. Guest memory is not written: when the device reads
memory, what it finds there is the next of the patterns laid out before.
"""

import struct

SEPARATOR = b"FUZZ"
READ, WRITE, PCI_WRITE, ADD_PATTERN, CLEAR_PATTERNS, CLOCK_STEP = 2, 3, 5, 7, 8, 9
SIZES = {1: 0, 2: 1, 4: 2, 8: 3}


class Input:
    def __init__(self):
        self.ops = []

    def add(self, opcode, data=b""):
        op = bytes([opcode]) + data
        assert SEPARATOR not in op
        self.ops.append(op)

    def write(self, offset, value, size=4, region=0):
        self.add(WRITE, struct.pack("<BBxxIQ", SIZES[size], region, offset, value & 0xffffffffffffffff))

    def read(self, offset, size=4, region=0):
        self.add(READ, struct.pack("<BBxxI", SIZES[size], region, offset))

    def config_write(self, offset, value, size):
        """A register of the function's configuration space, offset below 256."""
        self.add(PCI_WRITE, struct.pack("<BBBxI", SIZES[size], 0, offset, value))

    def memory(self, *parts):
        """What the device's next reads of memory find, one part for each; then from the first on again."""
        self.add(CLEAR_PATTERNS)
        for part in parts:
            self.add(ADD_PATTERN, bytes(2) + part)

    def step(self, count=1):
        """The clock goes on to the next timer, count times."""
        for _ in range(count):
            self.add(CLOCK_STEP)

    def enable_msi(self, capability, log2_vectors=0):
        """Messages go to guest memory."""
        self.config_write(capability + 4, 0x00f00000, 4)
        self.config_write(capability + 8, 0, 4)
        self.config_write(capability + 12, 0x40, 2)
        self.config_write(capability + 2, 1 | log2_vectors << 4, 2)

    def bytes(self):
        return SEPARATOR.join(self.ops)
