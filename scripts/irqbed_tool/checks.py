# SPDX-License-Identifier: GPL-2.0-or-later
"""What no single key can tell: keys of one cell that do not go together."""

import os

from . import fio_options, inject, knobs, paths
from .keys import shown

MIB = 1 << 20
MAX_JOBS = 1024
# Disks are one PCI function per controller, from 00:04.0 to 00:1d.0.
MAX_DEVICES = 26


def cross_check(cell, fail):
    """Ends in fail(key, what, right) when the cell's keys contradict each other."""
    _machine(cell["machine"], fail)
    _devices(cell["device"], fail)
    inject.cross_check(cell, fail)
    _driver(cell, fail)
    if "probe" in cell:
        _probe(cell["probe"], cell["machine"], fail)
    _workload(cell["workload"], cell["device"], fail)
    _beside(cell, fail)
    _polled(cell, fail)
    _greedy(cell, fail)


def polls(cell):
    """Is the policy the one under which requests can be polled for?"""
    return cell["driver"]["module"] == "irqbed" and cell["driver"]["policy"] == "polled"


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
    for name, value in device.items():
        if name.endswith("_dist") and value == "table" and not device[name.replace("_dist", "_table")]:
            fail(f"{prefix}.{name}", '"table" has no percentiles', f"give {name.replace('_dist', '_table')} too")
    if device["slow_unit"] >= device["units"]:
        fail(f"{prefix}.slow_unit", f"there is no unit {device['slow_unit']}",
             f"with units = {device['units']} it must be 0 to {device['units'] - 1}")
    if device["queue_depth"] > 32 and not device.get("mcq"):
        fail(f"{prefix}.queue_depth", f"{device['queue_depth']} is too many",
             'at most 32, or 255 with type = "ufs" and mcq = true')
    if device["irq_mode"] == "msix" and device["type"] != "ufs":
        fail(f"{prefix}.irq_mode", '"msix" is not allowed', 'must be "msi" or "intx" with this type')
    if len(device["lu"]) > 32:
        fail(f"{prefix}.lu", f"has {len(device['lu'])} entries", "at most 32 are possible")
    if len(device["lu"]) > device.get("ports", 32):
        fail(f"{prefix}.ports", f"{device['ports']} is too few", f"there are {len(device['lu'])} disks, "
             "one for each [[device.lu]]")
    vectors = device.get("msi_vectors", 0)
    if vectors & (vectors - 1):
        fail(f"{prefix}.msi_vectors", f"{vectors} is not allowed", "must be 0, 1, 2, 4, 8, 16 or 32")
    for number, lu in enumerate(device["lu"]):
        block = lu.get("block_bytes", 4096)
        if block & (block - 1):
            fail(f"{prefix}.lu.{number}.block_bytes", f"{block} is not allowed",
                 "must be 4096, 8192, 16384, 32768 or 65536")
        if lu["drive"] and not os.path.isfile(lu["drive"]):
            fail(f"{prefix}.lu.{number}.drive", f"{lu['drive']}: no such file",
                 "must be a raw image")


def _probe(probe, machine, fail):
    if probe["jitter_us"] * 2 >= probe["period_us"]:
        fail("probe.jitter_us", f"{probe['jitter_us']} is too much",
             f"must be below half of probe.period_us = {probe['period_us']}")
    if probe["cpu"] >= machine["cpus"]:
        fail("probe.cpu", f"there is no vCPU {probe['cpu']}",
             f"with machine.cpus = {machine['cpus']} it must be 0 to {machine['cpus'] - 1}")
    if machine["kernel"] not in paths.DRIVER_KERNELS:
        fail("probe", f"cannot be used with machine.kernel = {shown(machine['kernel'])}",
             f"its module is built for {' and '.join(paths.DRIVER_KERNELS)} only")


def _driver(cell, fail):
    if cell["driver"]["module"] == "irqbed" and cell["machine"]["kernel"] not in paths.DRIVER_KERNELS:
        fail("driver.module", f'"irqbed" cannot be used with machine.kernel = {shown(cell["machine"]["kernel"])}',
             f'it is built for {" and ".join(paths.DRIVER_KERNELS)} only, "stock" is in every kernel')
    depth = cell["driver"]["queue_depth"]
    for index, device in enumerate(cell["device"]):
        if depth > device["queue_depth"]:
            fail("driver.queue_depth", f"{depth} is more than the device has",
                 f"device.{index}.queue_depth is {device['queue_depth']}")


def _workload(workload, devices, fail):
    disks = [(f"device.{index}.lu.{number}", lu) for index, device in enumerate(devices)
             for number, lu in enumerate(device["lu"])][:workload["disks"]]
    if len(disks) < workload["disks"]:
        fail("workload.disks", f"{workload['disks']} is too many", f"there are {len(disks)} disks")
    if len(disks) > 1 and (workload["target"] == "file" or "filename" in workload):
        fail("workload.disks", f"{workload['disks']} is not allowed",
             'needs target = "disk" or "raid0", and no filename')
    if workload["tool"] == "dd":
        _dd(workload, fail)
    else:
        _fio(workload, fail)
    for name, lu in disks:
        _size(workload, name, lu, fail)


def _polled(cell, fail):
    """Who polls is the load: fio's io_uring, on the disk itself or a file."""
    workload = cell["workload"]
    if not polls(cell):
        if workload.get("hipri") and cell["driver"]["module"] == "irqbed":
            fail("workload.hipri", "is not allowed", 'needs driver.policy = "polled"')
        return
    if workload["tool"] == "fio" and workload.get("ioengine") != "io_uring":
        fail("workload.ioengine", "cannot poll", 'driver.policy = "polled" needs "io_uring"')
    for key, right in (("tool", "fio"), ("direct", True)):
        if workload.get(key) != right:
            fail(f"workload.{key}", "cannot poll", f'driver.policy = "polled" needs {shown(right)}')
    if workload["target"] == "raid0":
        fail("workload.target", '"raid0" cannot be polled', 'driver.policy = "polled" needs "disk" or "file"')


def _greedy(cell, fail):
    """Tags that anybody can have are those of a controller's only hardware queue."""
    if cell["driver"]["module"] != "irqbed" or cell["driver"]["tag_sharing"] != "greedy":
        return
    for index, device in enumerate(cell["device"]):
        pairs = min(cell["driver"]["hw_queues"] or cell["machine"]["cpus"], device.get("mcq_maxq", 1))
        if device.get("mcq") and pairs > 1:
            fail("driver.tag_sharing", f'"greedy" is not allowed with {pairs} hardware queues',
                 f"needs driver.hw_queues = 1, or device.{index}.mcq = false")


def _beside(cell, fail):
    name, tables = cell["workload"]["with"], cell["beside"]
    if not name:
        return
    if name not in tables:
        fail("workload.with", f"there is no [beside.{name}]", f"there are {', '.join(tables) or 'none'}")
    if cell["workload"]["tool"] != "fio" or cell["workload"]["target"] != "disk":
        fail("workload.with", f"{shown(name)} is not allowed", 'needs tool = "fio" and target = "disk"')
    count = sum(len(device["lu"]) for device in cell["device"])
    for disk in tables[name]["disks"]:
        if not cell["workload"]["disks"] <= disk < count:
            fail(f"beside.{name}.disks", f"{disk} is not allowed", "must be a disk that the load leaves free, "
                 f"{cell['workload']['disks']} to {count - 1}")
    if tables[name]["test_unit_ready"] != [] and cell["driver"]["module"] != "irqbed":
        fail(f"beside.{name}.test_unit_ready", "is not for the kernel's driver", 'needs driver.module = "irqbed"')
    if max(tables[name]["test_unit_ready"], default=0) >= 32 and not cell["driver"]["wluns"]:
        fail(f"beside.{name}.test_unit_ready", "names a well-known unit", "needs driver.wluns = 1")


def _dd(workload, fail):
    if workload["target"] != "disk":
        fail("workload.target", f"{shown(workload['target'])} is not allowed", 'must be "disk" with tool = "dd"')
    block, size = (fio_options.size_bytes(workload.get(key)) for key in ("bs", "size"))
    if not block:
        fail("workload.bs", "is missing or not a plain size", 'tool = "dd" needs it, for example "1m"')
    if not size or size % block:
        fail("workload.size", "is missing or not a multiple of bs", 'tool = "dd" needs it, for example "64m"')
    other = [key for key in workload if key not in (*knobs.table("workload"), "bs", "size")]
    if other:
        fail(f"workload.{other[0]}", 'is not for tool = "dd"', "which takes bs and size of fio's options")


def _fio(workload, fail):
    if "rw" not in workload:
        fail("workload.rw", "is missing", 'give it, for example, "randread"')
    jobs = workload.get("numjobs", 1)
    if not isinstance(jobs, int) or not 1 <= jobs <= MAX_JOBS:
        fail("workload.numjobs", f"{shown(jobs)} is not allowed",
             f"must be a whole number, 1 to {MAX_JOBS}")
    if workload.get("time_based") and "runtime" not in workload:
        fail("workload.runtime", "is missing", "time_based needs it")


def _size(workload, name, disk, fail):
    """A file needs a size, and it must fit the disk."""
    size = fio_options.size_bytes(workload.get("size"))
    if workload["target"] == "file" and size is None:
        fail("workload.size", "is missing or not a plain size",
             'a target that is a file needs it, for example "32m"')
    if size is None or disk["drive"]:
        return
    # A tenth of the disk is the file system's own.
    room = disk["size_mib"] * MIB * (9 if workload["target"] == "file" else 10) // 10
    if size > room:
        fail("workload.size", f"{workload['size']} does not fit the disk",
             f"{name}.size_mib is {disk['size_mib']}")
