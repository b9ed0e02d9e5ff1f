# SPDX-License-Identifier: GPL-2.0-or-later
"""Seeds for irqbed-ahci: what a driver does, from starting a port to I/O. AHCI 1.3.1, ACS-2."""

import struct

from ops import Input

GHC, HBA_IS, CCC_CTL, CCC_PORTS, BOHC = 0x04, 0x08, 0x14, 0x18, 0x28
CLB, CLBU, FB, FBU, IS, IE, CMD, SCTL, SERR, SACT, CI = (
    0x00, 0x04, 0x08, 0x0c, 0x10, 0x14, 0x18, 0x2c, 0x30, 0x34, 0x38)
ST, FRE = 1, 1 << 4
ALL = 0xffffffff
LISTS, TABLE, DATA = 0x1000000, 0x1100000, 0x1200000
SECTOR = 512
MSI_CAPABILITY = 0x40


def register(port, offset):
    return 0x100 + port * 0x80 + offset


def start(seed, port):
    for offset, value in ((CLB, LISTS + port * 0x2000), (CLBU, 0), (FB, LISTS + port * 0x2000 + 0x1000), (FBU, 0),
                          (CMD, FRE), (SERR, ALL), (IS, ALL), (IE, ALL), (CMD, FRE | ST)):
        seed.write(register(port, offset), value)


def up(ports=1):
    """Ports started, interrupts on."""
    seed = Input()
    for port in range(ports):
        start(seed, port)
    seed.write(HBA_IS, ALL)
    seed.write(GHC, 1 << 31 | 2)
    return seed


def fis(command, lba=0, count=0, feature=0, device=0x40, control=0, flags=0x80):
    return struct.pack("<BBBB3sB3sBHBBI", 0x27, flags, command, feature & 0xff, lba.to_bytes(6, "little")[:3], device,
                       lba.to_bytes(6, "little")[3:], feature >> 8, count, 0, control, 0)


def header(nr_prds=0, flags=0):
    return struct.pack("<HHIQ", 5 | flags, nr_prds, 0, TABLE) + bytes(16)


def prds(*lengths):
    at, table = DATA, b""
    for length in lengths:
        table += struct.pack("<QII", at, 0, length - 1)
        at += length
    return table


def acknowledge(seed, port=0):
    seed.read(register(port, IS))
    seed.write(register(port, IS), ALL)
    seed.write(HBA_IS, ALL)


def command(seed, what, lengths=(), data=(), port=0, flags=0):
    """One command in slot 0; data: what a write finds in memory, a part per segment."""
    parts = [header(len(lengths), flags), what] + ([prds(*lengths)] if lengths else [])
    seed.memory(*parts, *data)
    seed.write(register(port, CI), 1)
    seed.step(2)
    acknowledge(seed, port)


def restart(seed, port=0):
    seed.write(register(port, CMD), FRE)
    seed.write(register(port, IS), ALL)
    seed.write(register(port, CMD), FRE | ST)


def queue(seed, write, slots, port=0, sectors=8, steps=0):
    data = [b"data"] if write else []
    seed.memory(header(1, 0x40 if write else 0), fis(0x61 if write else 0x60, lba=64, feature=sectors),
                prds(sectors * SECTOR), *data)
    seed.write(register(port, SACT), slots)
    seed.write(register(port, CI), slots)
    seed.step(steps)
    acknowledge(seed, port)


def identify():
    seed = up()
    command(seed, fis(0xec), [SECTOR])
    command(seed, fis(0xec), [256, 256], port=1)
    return seed


def read():
    seed = up()
    command(seed, fis(0x25, lba=9, count=8), [4096])
    command(seed, fis(0xc8, lba=9, count=2), [512, 512])
    command(seed, fis(0x24, lba=9, count=3), [1536])
    command(seed, fis(0xc6, count=4))
    command(seed, fis(0x29, lba=9, count=8), [4096])
    command(seed, fis(0x42, lba=9, count=8))
    return seed


def write():
    seed = up()
    command(seed, fis(0x35, lba=9, count=8), [4096], [b"abcd"], flags=0x40)
    command(seed, fis(0xca, lba=9, count=2), [512, 512], [b"a", b"b"], flags=0x40)
    command(seed, fis(0x34, lba=9, count=3), [1536], [b"efgh"], flags=0x40)
    command(seed, fis(0x3d, lba=9, count=1), [512], [b"x"], flags=0x40)
    command(seed, fis(0xea))
    command(seed, fis(0xe7))
    return seed


def queued():
    seed = up()
    queue(seed, False, 1, steps=2)
    queue(seed, False, 0x0000ffff)
    queue(seed, True, 0xffff0000, steps=40)
    return seed


def queue_error():
    """A tag beyond the disk, the log page, and the way out."""
    seed = up()
    seed.memory(header(1), fis(0x60, lba=1 << 40, feature=8), prds(4096))
    seed.write(register(0, SACT), 1 << 7)
    seed.write(register(0, CI), 1 << 7)
    seed.step(2)
    acknowledge(seed)
    restart(seed)
    command(seed, fis(0x2f, lba=0x10, count=1), [SECTOR])
    queue(seed, False, 3, steps=4)
    return seed


def trim():
    seed = up()
    ranges = struct.pack("<QQ", 8 << 48 | 100, 1 << 48 | 7) + bytes(SECTOR - 16)
    command(seed, fis(0x06, feature=1, count=1), [SECTOR], [ranges], flags=0x40)
    return seed


def logs():
    seed = up()
    command(seed, fis(0x2f, lba=0x00, count=1), [SECTOR])
    command(seed, fis(0x47, lba=0x10, count=1), [SECTOR])
    command(seed, fis(0xb0, lba=0xc24f00, feature=0xd8))
    command(seed, fis(0xb0, lba=0xc24f00, feature=0xd0, count=1), [SECTOR])
    command(seed, fis(0xb0, lba=0xc24f00, feature=0xda))
    return seed


def features():
    seed = up()
    for feature, count in ((0x02, 0), (0x03, 0x46), (0x55, 0), (0x82, 0), (0xaa, 0), (0x99, 0)):
        command(seed, fis(0xef, feature=feature, count=count))
        restart(seed)
    for what in (0xe0, 0xe5, 0xe1, 0xe3, 0xf8, 0x27, 0x90, 0x91, 0xe6, 0x00):
        command(seed, fis(what))
    return seed


def resets():
    """Software reset, COMRESET, engine stopped and HBA reset, all with commands in flight."""
    seed = up(2)
    queue(seed, False, 0xff)
    seed.memory(header(flags=0x400), fis(0, control=4, flags=0))
    seed.write(register(0, CI), 1 << 9)
    seed.memory(header(), fis(0, control=0, flags=0))
    seed.write(register(0, CI), 1 << 10)
    acknowledge(seed)
    queue(seed, True, 0xff, port=1)
    seed.write(register(1, CMD), FRE)
    seed.write(register(1, SCTL), 0x301)
    seed.write(register(1, SCTL), 0x300)
    start(seed, 1)
    queue(seed, False, 0xff, port=1)
    seed.write(GHC, 1)
    seed.step(2)
    return seed


def coalescing():
    seed = up(2)
    seed.write(CCC_PORTS, 3)
    seed.write(CCC_CTL, 5 << 16 | 4 << 8 | 1)
    queue(seed, False, 0xff, steps=6)
    queue(seed, False, 0xff, port=1, steps=20)
    seed.write(CCC_CTL, 0)
    return seed


def messages():
    seed = up(2)
    seed.enable_msi(MSI_CAPABILITY, log2_vectors=2)
    queue(seed, False, 1, steps=2)
    queue(seed, False, 1, port=1, steps=2)
    seed.write(BOHC, 2)
    return seed


SEEDS = (identify, read, write, queued, queue_error, trim, logs, features, resets, coalescing, messages)
