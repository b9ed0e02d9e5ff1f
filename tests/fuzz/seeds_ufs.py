# SPDX-License-Identifier: GPL-2.0-or-later
"""Seeds for irqbed-ufs: what a driver does, from enabling the controller to I/O. UFSHCI 3.1, UFS 3.1."""

import struct

from ops import Input

IS, IE, HCE, UTRIACR = 0x20, 0x24, 0x34, 0x4c
UTRLBA, UTRLBAU, UTRLDBR, UTRLCLR, UTRLRSR, UTRLCNR = 0x50, 0x54, 0x58, 0x5c, 0x60, 0x64
UTMRLBA, UTMRLBAU, UTMRLDBR, UTMRLCLR, UTMRLRSR = 0x70, 0x74, 0x78, 0x7c, 0x80
UICCMD, UCMDARG1, UCMDARG2, UCMDARG3 = 0x90, 0x94, 0x98, 0x9c
ALL = 0xffffffff
TO_DEVICE, TO_HOST, NO_DATA, INTERRUPT = 1 << 25, 2 << 25, 0, 1 << 24
NOP_OUT, COMMAND, TASK_REQ, QUERY_REQ = 0x00, 0x01, 0x04, 0x16
LIST, TASKS, TABLE, DATA = 0x1000000, 0x1001000, 0x1100000, 0x1200000
RESPONSE, PRDT = 0x400, 0x800
BLOCK = 4096
MSI_CAPABILITY = 0x40


def dme(seed, opcode, attribute=0, value=0):
    seed.write(UCMDARG1, attribute << 16)
    seed.write(UCMDARG2, 0)
    seed.write(UCMDARG3, value)
    seed.write(UICCMD, opcode)
    seed.write(IS, ALL)


def up():
    """Controller enabled, link up, lists set and running, interrupts on."""
    seed = Input()
    seed.write(HCE, 1)
    dme(seed, 0x16)
    seed.write(UTRLBA, LIST)
    seed.write(UTRLBAU, 0)
    seed.write(UTMRLBA, TASKS)
    seed.write(UTMRLBAU, 0)
    seed.write(UTRLRSR, 1)
    seed.write(UTMRLRSR, 1)
    seed.write(IE, 0x201)
    return seed


def utrd(direction, nr_prds=0, flags=INTERRUPT):
    return struct.pack("<8I", 1 << 28 | direction | flags, 0, 0xf, 0, TABLE, 0,
                       RESPONSE // 4 << 16 | 512 // 4, PRDT // 4 << 16 | nr_prds)


def header(kind, flags=0, lun=0, tag=0, function=0, data=0):
    return struct.pack(">8BBBH", kind, flags, lun, tag, 0, function, 0, 0, 0, 0, data)


def scsi(cdb, expected, direction, lun=0, tag=0):
    flags = {TO_DEVICE: 0x20, TO_HOST: 0x40, NO_DATA: 0}[direction]
    return header(COMMAND, flags, lun, tag) + struct.pack(">I", expected) + cdb.ljust(16, b"\0")


def prds(*lengths):
    at, table = DATA, b""
    for length in lengths:
        table += struct.pack("<QII", at, 0, length - 1)
        at += length
    return table


def ring(seed, slots=1, steps=2):
    seed.write(UTRLDBR, slots)
    seed.step(steps)
    seed.read(IS)
    seed.write(IS, ALL)
    seed.write(UTRLCNR, ALL)


def command(seed, cdb, expected=0, direction=NO_DATA, lun=0, data=(), lengths=None):
    """One SCSI command in slot 0; data: what a write finds in memory, a part per segment."""
    lengths = lengths or ([-expected % 4 + expected] if expected else [])
    parts = [utrd(direction, len(lengths)), scsi(cdb, expected, direction, lun)]
    seed.memory(*parts, *([prds(*lengths)] if lengths else []), *data)
    ring(seed)


def query(seed, opcode, idn, index=0, selector=0, value=0, data=b"", length=255):
    write = opcode in (2, 4, 6, 7, 8)
    upiu = header(QUERY_REQ, function=0x81 if write else 1, data=len(data)) + struct.pack(
        ">BBBBHHIII", opcode, idn, index, selector, 0, len(data) or length, value, 0, 0)
    seed.memory(utrd(NO_DATA), upiu, *([data] if data else []))
    ring(seed)


def task(seed, function, lun=0, tag=0):
    upiu = header(TASK_REQ, lun=lun, function=function) + struct.pack(">5I", lun, tag, 0, 0, 0)
    seed.memory(struct.pack("<4I", 1 << 24, 0, 0xf, 0) + upiu + bytes(32))
    seed.write(UTMRLDBR, 1)
    seed.read(IS)
    seed.write(IS, ALL)


def read10(lba, blocks):
    return struct.pack(">BBIBHB", 0x28, 0, lba, 0, blocks, 0)


def write10(lba, blocks, flags=0):
    return struct.pack(">BBIBHB", 0x2a, flags, lba, 0, blocks, 0)


def nop():
    seed = up()
    seed.memory(utrd(NO_DATA), header(NOP_OUT) + bytes(20))
    ring(seed)
    return seed


def read():
    seed = up()
    command(seed, read10(3, 2), 2 * BLOCK, TO_HOST, lengths=[BLOCK, BLOCK])
    command(seed, struct.pack(">BHBBB", 0x08, 0, 1, 1, 0), BLOCK, TO_HOST, lun=1)
    command(seed, struct.pack(">BBQIBB", 0x88, 0, 5, 1, 0, 0), BLOCK, TO_HOST)
    return seed


def write():
    seed = up()
    command(seed, write10(3, 2, 8), 2 * BLOCK, TO_DEVICE, data=[b"abcd", b"efgh"], lengths=[BLOCK, BLOCK])
    command(seed, struct.pack(">BHBBB", 0x0a, 0, 1, 1, 0), BLOCK, TO_DEVICE, data=[b"x"])
    command(seed, struct.pack(">BBQIBB", 0x8a, 0, 5, 1, 0, 0), BLOCK, TO_DEVICE, lun=1, data=[b"y"])
    command(seed, struct.pack(">BBIBHB", 0x35, 0, 0, 0, 0, 0))
    command(seed, struct.pack(">BBQIBB", 0x91, 0, 0, 0, 0, 0))
    command(seed, struct.pack(">BBIBHB", 0x2f, 0, 0, 0, 4, 0))
    return seed


def unmap():
    seed = up()
    ranges = struct.pack(">QII", 8, 4, 0) + struct.pack(">QII", 100, 1, 0)
    listed = struct.pack(">HHI", 6 + len(ranges), len(ranges), 0) + ranges
    command(seed, struct.pack(">BBIBHB", 0x42, 0, 0, 0, len(listed), 0), len(listed), TO_DEVICE, data=[listed])
    command(seed, struct.pack(">BBBBH", 0x04, 0, 0, 0, 0))
    return seed


def inquiry():
    seed = up()
    command(seed, struct.pack(">BBBHB", 0x12, 0, 0, 96, 0), 96, TO_HOST)
    for page in (0x00, 0x80, 0x83, 0xb0, 0xb1, 0xb2):
        command(seed, struct.pack(">BBBHB", 0x12, 1, page, 255, 0), 255, TO_HOST)
    command(seed, struct.pack(">BBBHB", 0x12, 0, 0, 36, 0), 36, TO_HOST, lun=0xd0)
    return seed


def describe():
    seed = up()
    command(seed, struct.pack(">BBBBHIBB", 0xa0, 0, 0, 0, 0, 256, 0, 0), 256, TO_HOST, lun=0x81)
    command(seed, bytes([0x25]), 8, TO_HOST)
    command(seed, struct.pack(">BBQIBB", 0x9e, 0x10, 0, 32, 0, 0), 32, TO_HOST)
    command(seed, struct.pack(">BBBBBB", 0x1a, 0, 0x3f, 0, 255, 0), 255, TO_HOST)
    command(seed, struct.pack(">BBBBIHB", 0x5a, 0, 0x08, 0, 0, 255, 0), 255, TO_HOST)
    command(seed, struct.pack(">BBBBBB", 0x03, 0, 0, 0, 18, 0), 18, TO_HOST)
    command(seed, bytes([0x00]))
    command(seed, struct.pack(">BBBBBB", 0x1b, 0, 0, 0, 0x11, 0), lun=0xd0)
    return seed


def mode_select():
    seed = up()
    page = bytes([0x08, 0x12, 0x04]) + bytes(17)
    command(seed, struct.pack(">BBBBBB", 0x15, 0x10, 0, 0, 4 + len(page), 0), 4 + len(page), TO_DEVICE,
            data=[bytes(4) + page])
    command(seed, struct.pack(">BBBBBBBHB", 0x55, 0x10, 0, 0, 0, 0, 0, 8 + len(page), 0), 8 + len(page),
            TO_DEVICE, data=[bytes(8) + page])
    return seed


def descriptors():
    seed = up()
    for idn, index in ((0, 0), (1, 0), (2, 0), (2, 1), (4, 0), (5, 0), (5, 1), (7, 0), (8, 0), (9, 0)):
        query(seed, 1, idn, index)
    query(seed, 2, 1, data=bytes([0x90, 1]) + bytes(142))
    return seed


def attributes():
    seed = up()
    for idn in (0x00, 0x02, 0x0c, 0x0d, 0x18, 0x1c):
        query(seed, 3, idn)
    query(seed, 4, 0x03, value=5)
    query(seed, 4, 0x30, value=0x12345678)
    for opcode in (5, 6, 7, 8):
        query(seed, opcode, 0x01)
        query(seed, opcode, 0x04)
    return seed


def depth():
    """All slots at once, reads and writes alike."""
    seed = up()
    seed.memory(utrd(TO_HOST, 1), scsi(read10(0, 8), 8 * BLOCK, TO_HOST), prds(8 * BLOCK))
    ring(seed, 0x0000ffff, steps=0)
    seed.memory(utrd(TO_DEVICE, 1), scsi(write10(0, 2), 2 * BLOCK, TO_DEVICE, tag=1), prds(2 * BLOCK), b"data")
    ring(seed, ALL, steps=40)
    return seed


def tasks():
    """Task management over a slot that is in flight."""
    seed = up()
    for function in (0x80, 0x81, 0x01, 0x02, 0x04, 0x08):
        seed.memory(utrd(TO_HOST, 1), scsi(read10(0, 1), BLOCK, TO_HOST, tag=4), prds(BLOCK))
        seed.write(UTRLDBR, 1 << 4)
        task(seed, function, tag=4)
        seed.write(UTRLCLR, ALL & ~(1 << 4))
        seed.step()
    return seed


def disable():
    """Slots cleared, lists stopped and the controller disabled with requests in flight."""
    seed = depth()
    seed.memory(utrd(TO_HOST, 1), scsi(read10(0, 8), 8 * BLOCK, TO_HOST), prds(8 * BLOCK))
    seed.write(UTRLDBR, ALL)
    seed.write(UTRLCLR, 0xffff0000)
    seed.write(UTRLRSR, 0)
    seed.write(UTMRLCLR, 0)
    seed.write(HCE, 0)
    seed.step(2)
    seed.write(HCE, 1)
    return seed


def aggregation():
    seed = up()
    seed.write(UTRIACR, 1 << 31 | 1 << 24 | 8 << 8 | 5)
    for flags in (0, INTERRUPT):
        seed.memory(utrd(TO_HOST, 1, flags), scsi(read10(0, 1), BLOCK, TO_HOST), prds(BLOCK))
        ring(seed, 0xfff, steps=16)
    seed.read(UTRIACR)
    seed.write(UTRIACR, 1 << 31 | 1 << 16)
    return seed


def link():
    seed = up()
    for opcode, attribute, value in ((1, 0x1561, 0), (2, 0x1560, 2), (3, 0x1568, 0), (4, 0x156a, 2),
                                     (2, 0x1571, 0x11), (0x17, 0, 0), (0x18, 0, 0), (0x14, 0, 0)):
        dme(seed, opcode, attribute, value)
    return seed


def messages():
    seed = up()
    seed.enable_msi(MSI_CAPABILITY)
    command(seed, read10(0, 1), BLOCK, TO_HOST)
    return seed


SEEDS = (nop, read, write, unmap, inquiry, describe, mode_select, descriptors, attributes, depth, tasks, disable,
         aggregation, link, messages)
