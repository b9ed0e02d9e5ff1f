# SPDX-License-Identifier: GPL-2.0-or-later
"""Seeds for irqbed-ctl: what the guest's agent does."""

from ops import Input

MAGIC, JOB_SIZE, JOB_DATA, JOB_REWIND, OUT_DATA, OUT_COMMIT = 0x00, 0x08, 0x0c, 0x10, 0x14, 0x18
STATS_SNAP, STATS_SIZE, STATS_DATA, VTIME_LO, VTIME_HI, EXIT = 0x1c, 0x20, 0x24, 0x28, 0x2c, 0x30
INJECT = 0x3c


def job():
    seed = Input()
    for offset in (MAGIC, JOB_SIZE, JOB_DATA, JOB_DATA):
        seed.read(offset)
    seed.write(JOB_REWIND, 1)
    seed.read(JOB_DATA)
    return seed


def line():
    seed = Input()
    seed.write(OUT_DATA, 0x64636261)
    seed.write(OUT_DATA, 0x0a)
    seed.write(OUT_COMMIT, 5)
    seed.write(OUT_COMMIT, 1)
    return seed


def statistics():
    seed = Input()
    seed.write(STATS_SNAP, 1)
    seed.read(STATS_SIZE)
    seed.read(STATS_DATA)
    seed.write(STATS_SNAP, 2)
    seed.read(STATS_DATA)
    seed.read(VTIME_LO)
    seed.read(VTIME_HI)
    seed.write(EXIT, 3)
    return seed


def put(seed, text):
    """The text into the line buffer, and that it is injections."""
    data = text.encode()
    for at in range(0, len(data), 4):
        seed.write(OUT_DATA, int.from_bytes(data[at:at + 4].ljust(4, b"\0"), "little"))
    seed.write(INJECT, len(data))


def injections():
    seed = Input()
    put(seed, "ufs0 id=a,every=3,count=2,on=read,fault=status,status=medium-error")
    seed.read(STATS_SIZE)
    put(seed, "ufs0 id=b,at-ns=10,period-ns=900,knob=units,value=3,ramp-ns=100,for-ns=500")
    put(seed, "ufs0 id=c,chance-ppm=0,fault=hold")
    seed.read(STATS_DATA)
    seed.step(2)
    put(seed, "ufs0 ")
    return seed


def nothing():
    """Of a line buffer that was never written to."""
    seed = Input()
    seed.write(INJECT, 0)
    seed.write(OUT_COMMIT, 0)
    seed.write(INJECT, 4)
    seed.write(STATS_SNAP, 3)
    seed.read(STATS_DATA)
    return seed


SEEDS = (job, line, statistics, injections, nothing)
