# SPDX-License-Identifier: GPL-2.0-or-later
"""Seeds for irqbed-probe: the schedule started, answered, missed and stopped."""

from ops import Input

CTRL, STATUS, ACK = 0x08, 0x10, 0x14
MSI_CAPABILITY = 0x40


def answered():
    seed = Input()
    seed.enable_msi(MSI_CAPABILITY)
    seed.write(CTRL, 1)
    for _ in range(3):
        seed.step(2)
        seed.read(STATUS)
        seed.write(ACK, 1)
    return seed


def missed():
    seed = Input()
    seed.enable_msi(MSI_CAPABILITY)
    seed.write(CTRL, 1)
    seed.step(8)
    seed.write(ACK, 1)
    seed.write(CTRL, 0)
    seed.step()
    return seed


SEEDS = (answered, missed)
