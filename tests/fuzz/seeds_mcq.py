# SPDX-License-Identifier: GPL-2.0-or-later
"""Seeds for irqbed-ufs with mcq=on: submission and completion queues. UFSHCI 4.0."""

from seeds_ufs import (ALL, BLOCK, HCE, IE, INTERRUPT, IS, MSI_CAPABILITY, NO_DATA, TO_DEVICE, TO_HOST, UTRLCLR, UTRLDBR, header,
                       prds, read10, scsi, task, up, utrd, write10, NOP_OUT)

CONFIG, MCQCONFIG, ESILBA, ESIUBA = 0x300, 0x380, 0x384, 0x388
SQATTR, SQLBA, SQUBA, SQCFG, CQATTR, CQLBA, CQUBA, CQCFG = 0x00, 0x04, 0x08, 0x14, 0x20, 0x24, 0x28, 0x34
SQ_HEAD, SQ_TAIL, SQ_RTC, SQ_CTI, SQ_RTS, SQ_IS, SQ_IE, CQ_HEAD, CQ_TAIL, CQ_IS, CQ_IE, CQ_IACR = (
    0x00, 0x04, 0x08, 0x0c, 0x10, 0x14, 0x18, 0x1c, 0x20, 0x24, 0x28, 0x2c)
ENABLE, ENTRY, ENTRIES = 1 << 31, 32, 16
QUEUES = 0x2000000


def setup(queue, register):
    return 0x400 + queue * 0x40 + register


def runtime(queue, register):
    return 0x1000 + queue * 48 + register


def create(seed, queue, cq=None, entries=ENTRIES):
    """A pair of queues, or a submission queue that answers to cq."""
    size = entries * ENTRY // 4 - 1
    if cq is None:
        cq = queue
        seed.write(setup(queue, CQLBA), QUEUES + queue * 0x2000)
        seed.write(setup(queue, CQUBA), 0)
        seed.write(setup(queue, CQATTR), ENABLE | size)
        seed.write(runtime(queue, CQ_IE), 1)
    seed.write(setup(queue, SQLBA), QUEUES + queue * 0x2000 + 0x1000)
    seed.write(setup(queue, SQUBA), 0)
    seed.write(setup(queue, SQATTR), ENABLE | cq << 16 | size)


def queues_up(count=1, entries=ENTRIES):
    seed = up()
    seed.write(CONFIG, 1)
    seed.write(MCQCONFIG, 31 << 8)
    seed.write(IE, 0x100201)
    for queue in range(count):
        create(seed, queue, entries=entries)
    return seed


def submit(seed, queue, tail, steps=2):
    seed.write(runtime(queue, SQ_TAIL), tail * ENTRY)
    seed.step(steps)


def acknowledge(seed, queue, head):
    seed.read(IS)
    seed.read(runtime(queue, CQ_IS))
    seed.write(runtime(queue, CQ_IS), 1)
    seed.read(runtime(queue, CQ_TAIL))
    seed.write(runtime(queue, CQ_HEAD), head * ENTRY)


def reads(seed, tag=0):
    seed.memory(utrd(TO_HOST, 1), scsi(read10(0, 1), BLOCK, TO_HOST, tag=tag), prds(BLOCK))


def nop():
    seed = queues_up()
    seed.memory(utrd(NO_DATA), header(NOP_OUT) + bytes(20))
    submit(seed, 0, 1)
    acknowledge(seed, 0, 1)
    return seed


def read_write():
    seed = queues_up(2)
    reads(seed)
    submit(seed, 0, 1)
    acknowledge(seed, 0, 1)
    seed.memory(utrd(TO_DEVICE, 1), scsi(write10(4, 2), 2 * BLOCK, TO_DEVICE, lun=1), prds(2 * BLOCK), b"data")
    submit(seed, 1, 2, steps=4)
    acknowledge(seed, 1, 2)
    return seed


def wrap():
    """Small queues, round and round; the completion queue fills up and is emptied."""
    seed = queues_up(entries=4)
    for tail in (3, 2, 1, 0):
        reads(seed)
        submit(seed, 0, tail, steps=6)
        acknowledge(seed, 0, tail)
    reads(seed)
    submit(seed, 0, 3, steps=6)
    submit(seed, 0, 2, steps=6)
    acknowledge(seed, 0, 2)
    seed.step(6)
    return seed


def shared():
    """Two submission queues, one completion queue, more than the controller takes at once."""
    seed = queues_up()
    create(seed, 1, cq=0)
    seed.write(MCQCONFIG, 1 << 8)
    reads(seed)
    submit(seed, 0, 10, steps=0)
    submit(seed, 1, 10, steps=30)
    acknowledge(seed, 0, 8)
    seed.step(30)
    return seed


def cleanup():
    """A queue stopped, one request cleaned up, one aborted, the queue deleted."""
    seed = queues_up(2)
    reads(seed, tag=5)
    submit(seed, 0, 4, steps=0)
    seed.write(IE, 0x180201)
    seed.write(runtime(0, SQ_IE), 6)
    seed.write(runtime(0, SQ_RTC), 1)
    seed.read(runtime(0, SQ_RTS))
    seed.read(runtime(0, SQ_IS))
    seed.write(runtime(0, SQ_IS), 2)
    seed.write(runtime(0, SQ_CTI), 5)
    seed.write(runtime(0, SQ_RTC), 3)
    task(seed, 0x01, tag=5)
    seed.write(runtime(0, SQ_RTC), 0)
    seed.step(4)
    acknowledge(seed, 0, 4)
    seed.write(setup(0, SQATTR), 0)
    seed.write(setup(0, CQATTR), 0)
    create(seed, 0)
    seed.write(HCE, 0)
    return seed


def aggregation():
    seed = queues_up(2)
    seed.write(IE, 0x300201)
    for queue in range(2):
        seed.write(setup(queue, CQCFG), 1 << 8)
    seed.write(runtime(0, CQ_IACR), ENABLE | 1 << 24 | 4 << 8 | 5)
    for flags in (0, INTERRUPT):
        seed.memory(utrd(TO_HOST, 1, flags), scsi(read10(0, 1), BLOCK, TO_HOST), prds(BLOCK))
        submit(seed, 0, 6 if flags else 12, steps=12)
        acknowledge(seed, 0, 6 if flags else 12)
    seed.read(runtime(0, CQ_IACR))
    seed.write(runtime(0, CQ_IACR), ENABLE | 1 << 16)
    return seed


def messages():
    """A message for each queue (ESI), and for the controller."""
    seed = queues_up(2)
    seed.enable_msi(MSI_CAPABILITY)
    for vector in range(3):
        for word, value in enumerate((0x00f00000, 0, 0x40 + vector, 0)):
            seed.write(vector * 16 + word * 4, value, region=1)
    for capability in (0x50, 0x60, 0x40):
        seed.config_write(capability + 2, 0x8000, 2)
    seed.write(CONFIG, 3)
    seed.write(ESILBA, 0x00f00000)
    seed.write(ESIUBA, 0)
    reads(seed)
    submit(seed, 0, 2, steps=4)
    acknowledge(seed, 0, 2)
    submit(seed, 1, 2, steps=4)
    seed.write(IS, ALL)
    return seed


def mode():
    """By doorbell, then by queue, then by doorbell again, with something rung each time."""
    seed = up()
    reads(seed)
    seed.write(UTRLDBR, 5)
    seed.write(CONFIG, 1)
    seed.step(2)
    seed.write(CONFIG, 1)
    create(seed, 0)
    submit(seed, 0, 3, steps=0)
    seed.write(CONFIG, 0)
    task(seed, 0x01, tag=0)
    submit(seed, 0, 6, steps=0)
    seed.write(runtime(0, SQ_RTC), 1)
    seed.step(8)
    seed.write(CONFIG, 0)
    seed.write(UTRLDBR, 1)
    seed.write(UTRLCLR, ALL & ~1)
    seed.step(2)
    return seed


SEEDS = (nop, read_write, wrap, shared, cleanup, aggregation, messages, mode)
