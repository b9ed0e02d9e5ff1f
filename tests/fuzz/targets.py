# SPDX-License-Identifier: GPL-2.0-or-later
"""What is fuzzed: a machine with the device, its seeds, and what the seeds must reach.

The machine is QEMU's generic fuzzer's; no guest code runs in it. What is to be
reached is counted in the device's own trace events, label -> (events, words).
"""

import re
from dataclasses import dataclass
from pathlib import Path

import seeds_ahci
import seeds_ctl
import seeds_mcq
import seeds_probe
import seeds_ufs

HERE = Path(__file__).resolve().parent
REQUESTS = {
    "fetched": re.compile(r"irqbed_doorbell "),
    "completed": re.compile(r"irqbed_complete .* ok "),
    "failed": re.compile(r"irqbed_complete .* failed "),
    "interrupts": re.compile(r"irqbed_irq_raise "),
}
# Short service times of several kinds, and every fault now and then.
MODEL = ("service-read-ns=2000,service-read-dist=uniform,service-read-spread-ns=1000,service-write-ns=3000,"
         "service-write-dist=lognormal,service-write-spread-ns=500,service-other-ns=1000,service-read-ns-per-kib=10,"
         "units=3,irq-latency-ns=500,irq-drop-every=13,hold-every=17,fail-every=19")


def disks(count):
    return " ".join(f"-blockdev driver=null-co,node-name=n{number},size=67108864,read-zeroes=on"
                    for number in range(count))


def ufs(options, seeds):
    """Half the time of a controller: by doorbell, or with queues."""
    return Target(
        300, f"{disks(2)} -device irqbed-ufs,id=dev,{options}{MODEL} -device irqbed-ufs-lu,bus=dev.0,lun=0,drive=n0 "
        "-device irqbed-ufs-lu,bus=dev.0,lun=1,drive=n1", "irqbed-ufs", seeds, REQUESTS)


@dataclass(frozen=True)
class Target:
    seconds: int                # its share of the suite's time
    machine: str
    objects: str                # whose registers are fuzzed: patterns of QOM types
    seeds: tuple
    reached: dict

    def seed_folder(self, name):
        return HERE / "seeds" / name


TARGETS = {
    "irqbed-ufs": ufs("", seeds_ufs.SEEDS),
    "irqbed-ufs-mcq": ufs("mcq=on,mcq-maxq=4,", seeds_mcq.SEEDS),
    "irqbed-ahci": Target(
        600, f"{disks(2)} -device irqbed-ahci,id=dev,ports=3,msi-vectors=4,ccc=on,{MODEL} "
        "-device irqbed-ahci-drive,bus=dev.0,port=0,drive=n0 -device irqbed-ahci-drive,bus=dev.0,port=1,drive=n1",
        "irqbed-ahci", seeds_ahci.SEEDS, REQUESTS),
    "irqbed-probe": Target(
        60, "-device irqbed-probe,period-ns=10000,jitter-ns=3000", "irqbed-probe", seeds_probe.SEEDS, {
            "sent": re.compile(r"irqbed_probe_sent "),
            "answered": re.compile(r"irqbed_probe_ack "),
            "missed": re.compile(r"irqbed_probe_missed "),
        }),
    "irqbed-ctl": Target(
        60, "-chardev null,id=out -device irqbed-ctl,out=out,job=targets.py "
        "-device irqbed-probe", "irqbed-ctl", seeds_ctl.SEEDS, {
            "snapshots": re.compile(r"irqbed_ctl_snapshot "),
            "lines": re.compile(r"irqbed_ctl_commit "),
        }),
}
