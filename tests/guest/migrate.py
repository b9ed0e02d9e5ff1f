#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Saves a VM in the middle of I/O, restores it, twice over; prints TAP.

usage: migrate.py irqbed|stock

fio writes a pattern to two disks and reads it back. While it writes, and again
while it reads, the VM is stopped with requests in the device, saved to a file,
and restored by another QEMU on the same images. fio finds every block as it
wrote it, and the device's and the driver's books agree: nothing is lost, nothing
is done twice.
"""

import contextlib
import json
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parents[1]
sys.path[:0] = [str(REPO / "scripts"), str(HERE), str(HERE.parent / "clock")]

# pylint: disable=wrong-import-position
from irqbed_tool import jobs, vm
from irqbed_tool.errors import UserError
from irqbed_tool.evaluate import kernel_trouble
from qmp import Qmp, resume
from run import DISK_BYTES, Tap

SIZE_MIB = 16
BLOCKS = SIZE_MIB * 256
# Requests fetched by the device: in the middle of the writing, and of the reading.
SAVE_AT = (BLOCKS // 2, BLOCKS + BLOCKS // 2)
KNOBS = {"units": 4, "service-read-ns": 100000, "service-read-dist": "exponential", "service-write-ns": 150000,
         "irq-latency-ns": 5000, "irq-coalesce-timeout-ns": 50000, "irq-coalesce-count": 4}
DRIVERS = {
    "irqbed": ("insmod /lib/irqbed/irqbed.ko", ("/dev/irqbed0l0", "/dev/irqbed0l1")),
    "stock": ("modprobe -a sd_mod ufshcd-pci", ("/dev/sda", "/dev/sdb")),
}
STATS = "cat /sys/kernel/debug/irqbed/*/stats"


def make_job(driver):
    load, nodes = DRIVERS[driver]
    job = jobs.Job().shell("load", f"{load}; n=0; until [ -b {nodes[0]} -a -b {nodes[1]} ]; do "
                           "n=$((n+1)); [ $n -lt 100 ] || exit 1; sleep 0.1; done; sleep 1")
    job.stats("before", reset=True).shell("ready", "true")
    job.shell("verify", f"fio --name=v --filename={':'.join(nodes)} --size={SIZE_MIB}m --rw=randwrite --bs=4k "
              "--direct=1 --ioengine=libaio --iodepth=16 --allow_file_create=0 --verify=crc32c --verify_fatal=1 "
              "--do_verify=1", 600_000)
    if driver == "irqbed":
        job.shell("driver", STATS)
    return job.stats("after").dmesg().poweroff()


def books_of(monitor):
    """The device's own count of requests."""
    return monitor.run("qom-get", path="ufs0", property="stats")["requests"]


def save_in_the_middle(guest, restored, at, path, saved):
    """Stop the VM once the device has fetched AT requests and has some now; save it, and what it had."""
    with Qmp(guest.qmp_socket()) as monitor:
        if restored:
            monitor.go_on()
        while books_of(monitor)["fetched"] < at:
            time.sleep(0.01)
        while True:
            monitor.run("stop")
            books = books_of(monitor)
            if books["in_flight"]:
                break
            monitor.run("cont")
        monitor.save(path)
        saved.append(books)
        monitor.run("quit")


@contextlib.contextmanager
def saving(guest, *how):
    """Save the VM beside its run; that it ends early is seen by what is not saved."""

    def save():
        with contextlib.suppress(OSError, ValueError):
            save_in_the_middle(guest, *how)

    thread = threading.Thread(target=save)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def run(driver, devices, folder, state, beside):
    """One QEMU, from the start or from STATE, with the context BESIDE(guest); its Outcome."""
    extra = ["-incoming", f"file:{state}"] if state else []
    with vm.Vm(vm.Machine(cpus=2, memory_mib=512), devices, make_job(driver), extra, workdir=folder) as guest:
        with beside(guest):
            return guest.run()


def make_devices(folder):
    lus = []
    for lun in (0, 1):
        image = folder / f"{lun}.img"
        with open(image, "wb") as file:
            file.truncate(DISK_BYTES)
        lus.append(vm.Lu(str(image)))
    return [vm.Device("irqbed-ufs", "ufs0", KNOBS, lus)]


def answer(outcome, kind, name):
    return next((a for a in outcome.answers if a["type"] == kind and a.get("name") == name), None)


def check_end(tap, driver, outcome):
    """What the last QEMU's guest says."""
    verify = answer(outcome, "exec", "verify")
    books = answer(outcome, "stats", "after")
    if outcome.status != "done" or not verify or not books:
        tap.note(f"{outcome.status}: {outcome.reason}\n" + "\n".join(outcome.console_tail))
        tap.result(False, "the restored VM runs to its end")
        return
    tap.result(True, "the restored VM runs to its end")
    if verify["rc"]:
        tap.note(f"expected: exit status 0, got: {verify['rc']}\n{verify['out']}{verify['err']}")
    tap.result(not verify["rc"], "fio reads back what it wrote")
    device = books["devices"]["ufs0"]
    requests = device["requests"]
    tap.note(f"device: {json.dumps(requests)}")
    tap.result(requests["fetched"] == requests["completed"] and not requests["in_flight"],
               "the device answered every request, once")
    wanted = (BLOCKS * 4096, BLOCKS * 4096)
    got = (device["bytes_written"], device["bytes_read"])
    if got != wanted:
        tap.note(f"expected: {wanted} bytes written and read, got: {got}")
    tap.result(got == wanted, "every block was written once and read once")
    if driver == "irqbed":
        ours = json.loads(answer(outcome, "exec", "driver")["out"])
        tap.note(f"driver: submitted {ours['submitted']}, completed {ours['completed']}")
        tap.result(ours["submitted"] == ours["completed"] and not ours["in_flight"] and not ours["unexpected"],
                   "the driver's books agree")
    trouble = kernel_trouble([line for a in outcome.answers if a["type"] == "dmesg" for line in a["lines"]])
    for line in trouble:
        tap.note(f"expected: a silent kernel, got: {line}")
    tap.result(not trouble, "the kernel complains about nothing")


def test(tap, driver):
    with tempfile.TemporaryDirectory(prefix="irqbed-migrate-") as name:
        folder = Path(name)
        devices = make_devices(folder)
        saved = []

        states = [folder / f"state{number}" for number in range(len(SAVE_AT))]
        state = None
        for number, at in enumerate(SAVE_AT):
            outcome = run(driver, devices, folder, state,
                          lambda guest: saving(guest, bool(state), at, states[number], saved))
            if len(saved) <= number:
                tap.note(f"{outcome.status}: {outcome.reason}\n" + "\n".join(outcome.console_tail))
            tap.result(len(saved) > number, f"saved with requests in the device, {at} fetched")
            state = states[number]
        for books in saved:
            tap.note(f"saved with {json.dumps(books)}")
        if len(saved) == len(SAVE_AT):
            check_end(tap, driver, run(driver, devices, folder, state, resume))


def main(argv):
    if len(argv) != 1 or argv[0] not in DRIVERS:
        print(__doc__)
        return 0 if argv in (["-h"], ["--help"]) else 2
    try:
        vm.need_built()
    except UserError as err:
        print(f"1..0 # SKIP {err}")
        return 0
    tap = Tap()
    test(tap, argv[0])
    if tap.failed:
        tap.note(f"again: tests/guest/migrate.py {argv[0]}")
    tap.end()
    return 1 if tap.failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UserError as error:
        print(f"irqbed: {error}", file=sys.stderr)
        sys.exit(error.status)
