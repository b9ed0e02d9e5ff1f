# SPDX-License-Identifier: GPL-2.0-or-later
"""What no single key can tell: keys of one cell that do not go together."""

import os

from . import fio_options
from .keys import shown

MIB = 1 << 20
MAX_JOBS = 1024
# Disks are one PCI function per controller, from 00:04.0 to 00:1d.0.
MAX_DEVICES = 26


def cross_check(cell, fail):
    """Ends in fail(key, what, right) when the cell's keys contradict each other."""
    _machine(cell["machine"], fail)
    _devices(cell["device"], fail)
    _driver(cell, fail)
    _workload(cell["workload"], cell["device"], fail)


def _machine(machine, fail):
    cpus = machine["cpus"]
    if machine["irq_cpu"] >= cpus:
        fail("machine.irq_cpu", f"there is no vCPU {machine['irq_cpu']}",
             f"with machine.cpus = {cpus} it must be 0 to {cpus - 1}")
    speeds = machine["ns_per_insn"]
    for speed in speeds if isinstance(speeds, list) else [speeds]:
        if round(speed, 6) != speed:
            fail("machine.ns_per_insn", f"{speed} is too exact", "six decimals at most")
    if isinstance(speeds, list) and len(speeds) != cpus:
        fail("machine.ns_per_insn", f"has {len(speeds)} numbers",
             f"must have one for each of the {cpus} vCPUs, or be one number")


def _devices(devices, fail):
    seen = set()
    if len(devices) > MAX_DEVICES:
        fail("device", f"has {len(devices)} entries", f"at most {MAX_DEVICES} are possible")
    for index, device in enumerate(devices):
        if not device["id"].isalnum() or not device["id"].isascii():
            fail(f"device.{index}.id", f"{shown(device['id'])} is not allowed",
                 "must be letters and digits")
        if device["id"] in seen:
            fail(f"device.{index}.id", f"{shown(device['id'])} is taken",
                 "each device has its own id")
        seen.add(device["id"])
        _device(device, f"device.{index}", fail)


def _device(device, prefix, fail):
    if device["irq_coalesce_count"] > 1 and not device["irq_coalesce_timeout_ns"]:
        fail(f"{prefix}.irq_coalesce_count", "would let the last completions wait for ever",
             "give irq_coalesce_timeout_ns too")
    if len(device["lu"]) > 32:
        fail(f"{prefix}.lu", f"has {len(device['lu'])} entries", "at most 32 are possible")
    for number, lu in enumerate(device["lu"]):
        if lu["drive"] and not os.path.isfile(lu["drive"]):
            fail(f"{prefix}.lu.{number}.drive", f"{lu['drive']}: no such file",
                 "must be a raw image")


def _driver(cell, fail):
    depth = cell["driver"]["queue_depth"]
    for index, device in enumerate(cell["device"]):
        if depth > device["queue_depth"]:
            fail("driver.queue_depth", f"{depth} is more than the device has",
                 f"device.{index}.queue_depth is {device['queue_depth']}")


def _workload(workload, devices, fail):
    if "rw" not in workload:
        fail("workload.rw", "is missing", 'give it, for example, "randread"')
    jobs = workload.get("numjobs", 1)
    if not isinstance(jobs, int) or not 1 <= jobs <= MAX_JOBS:
        fail("workload.numjobs", f"{shown(jobs)} is not allowed",
             f"must be a whole number, 1 to {MAX_JOBS}")
    if workload.get("time_based") and "runtime" not in workload:
        fail("workload.runtime", "is missing", "time_based needs it")
    _size(workload, devices, fail)


def _size(workload, devices, fail):
    """A file needs a size, and it must fit the disk."""
    size = fio_options.size_bytes(workload.get("size"))
    disk = devices[0]["lu"][0]
    if workload["target"] == "file" and size is None:
        fail("workload.size", "is missing or not a plain size",
             'a target that is a file needs it, for example "32m"')
    if size is None or disk["drive"]:
        return
    # A tenth of the disk is the file system's own.
    room = disk["size_mib"] * MIB * (9 if workload["target"] == "file" else 10) // 10
    if size > room:
        fail("workload.size", f"{workload['size']} does not fit the disk",
             f"device.0.lu.0.size_mib is {disk['size_mib']}")
