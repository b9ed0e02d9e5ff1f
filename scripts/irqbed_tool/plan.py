# SPDX-License-Identifier: GPL-2.0-or-later
"""From the cells of an experiment to boots, and from a boot to its job file.

Cells that agree on machine, devices and what is fixed when the driver is
loaded share a boot; between them only the workload and the driver's live
parameters change.
"""

import json
import shutil
import string
from dataclasses import dataclass
from pathlib import Path

from . import fio_options, inject, knobs, metrics, vm
from .jobs import Job

MODULE = "/lib/irqbed/irqbed.ko"
PROBE_MODULE = "/lib/irqbed/irqbed-probe.ko"
MOUNT = "/mnt"
FILE = f"{MOUNT}/file"
RAID = "md0"
DEBUGFS = "/sys/kernel/debug/irqbed"
STOCK_DRIVERS = {"ufs": "ufshcd-pci", "ahci": "ahci"}
DISK_WAIT_S = 60
SETUP_LIMIT_MS = 300_000
SETTLE_STEP_US = 50_000
# Load without a runtime is ended after this much guest time.
UNTIMED_LIMIT_S = 600
# Of the load, what is made once for a boot.
BOOT_WORKLOAD = ("target", "disks", "raid_chunk_kib")


@dataclass
class Boot:
    """One VM's share of an experiment."""

    machine: vm.Machine
    config: dict            # of the first cell; what the cells share is the same in all
    cells: list

    def devices(self, workdir):
        """The controllers, on images that prepare_images() makes in WORKDIR."""
        out = []
        for device in self.config["device"]:
            known = {key: val for key, val in device.items() if key not in ("id", "type", "lu")}
            entries = inject.entries_of(self.config, device["id"])
            if entries:
                known["inject"] = inject.text(entries)
            lus = [vm.Lu(str(image_path(workdir, device, lun)),
                         {key: val for key, val in lu.items() if key not in ("size_mib", "drive")})
                   for lun, lu in enumerate(device["lu"])]
            out.append(vm.Device(f"irqbed-{device['type']}", device["id"], known, lus))
        return out


    def extra(self):
        """Further QEMU arguments."""
        probe = self.config.get("probe")
        return vm.probe_args(probe and {"period_ns": probe["period_us"] * 1000,
                                        "jitter_ns": probe["jitter_us"] * 1000,
                                        "cpu": probe["cpu"], "seed": probe["seed"]})


def image_path(workdir, device, lun):
    return Path(workdir) / f"{device['id']}lu{lun}.img"


def prepare_images(boot, workdir):
    """The disks' images: empty and sparse, or private copies of the user's."""
    for device in boot.config["device"]:
        for lun, lu in enumerate(device["lu"]):
            path = image_path(workdir, device, lun)
            if lu["drive"]:
                shutil.copyfile(lu["drive"], path)
            else:
                with open(path, "wb") as file:
                    file.truncate(lu["size_mib"] << 20)


def boot_key(config):
    """What cells of one boot have in common, as a text."""
    driver = {key: val for key, val in config["driver"].items() if key not in knobs.DRIVER_LIVE}
    return json.dumps([config["machine"], config["device"], config.get("inject"), driver, config.get("probe"),
                       *(config["workload"][key] for key in BOOT_WORKLOAD)], sort_keys=True)


def make_boots(cells):
    """Boots for CELLS, in the order in which their first cells stand there."""
    groups = {}
    for cell in cells:
        groups.setdefault(boot_key(cell.config), []).append(cell)
    return [Boot(make_machine(group[0].config["machine"]), group[0].config, group)
            for group in groups.values()]


def make_machine(config):
    args = (f"irqaffinity={config['irq_cpu']}", *config["kernel_args"].split())
    return vm.Machine(cpus=config["cpus"], memory_mib=config["memory"], kernel=config["kernel"],
                      clock=config["clock"], ns_per_insn=config["ns_per_insn"],
                      quantum_ns=config["quantum_ns"], seed=config["seed"], kernel_args=args,
                      iommu=config["iommu"])


# --- what the guest does ----------------------------------------------------

def disk(config):
    """The first disk's device node in the guest."""
    return f"/dev/{disk_names(config)[0]}"


def load_disks(config):
    """Device nodes of the disks that the load goes to."""
    if config["workload"]["target"] == "raid0":
        return [f"/dev/{RAID}"]
    return member_disks(config)


def member_disks(config):
    """Device nodes of the first disks, as many as the load asks for."""
    return [f"/dev/{name}" for name in disk_names(config)[:config["workload"]["disks"]]]


def disk_names(config):
    """The guest's names of all disks, in the order of [[device.lu]]."""
    lus = [len(device["lu"]) for device in config["device"]]
    if config["driver"]["module"] == "irqbed":
        return [f"irqbed{number}l{lun}" for number, count in enumerate(lus) for lun in range(count)]
    return [f"sd{string.ascii_lowercase[number]}" for number in range(min(sum(lus), 26))]


def beside(config):
    """The [beside.NAME] that runs beside the cell's load, {} if none does."""
    return config["beside"].get(config["workload"]["with"], {})


def debugfs_dirs(config):
    """{device id: the driver's directory for it}."""
    return {device["id"]: f"{DEBUGFS}/{vm.pci_address(index)}"
            for index, device in enumerate(config["device"])}


def load_driver_script(config):
    """Shell text that loads the driver and waits until the disks are there."""
    driver = config["driver"]
    if driver["module"] == "stock":
        names = dict.fromkeys(STOCK_DRIVERS[device["type"]] for device in config["device"])
        load = " && ".join(f"modprobe {name}" for name in ("sd_mod", *names))
    else:
        words = [f"{key}={val}" for key, val in driver.items() if key != "module"]
        load = f"insmod {MODULE} " + " ".join(words)
    nodes = [f"/dev/{name}" for name in disk_names(config)]
    missing = " || ".join(f"[ ! -b {node} ]" for node in nodes)
    return (f"{load} || exit 1; n=0; while {missing}; do n=$((n+1)); "
            f"[ $n -gt {DISK_WAIT_S * 10} ] && {{ echo no disk {' '.join(nodes)} >&2; exit 1; }}; "
            "sleep 0.1; done")


def make_fs_script(config):
    """Shell text that puts an ext2 file system on the disk and mounts it through ext4."""
    node = disk(config)
    return (f"modprobe ext4 && mke2fs -b 4096 {node} >/dev/null && "
            f"mount -t ext4 -o noatime {node} {MOUNT}")


def make_raid_script(config):
    """Shell text that makes a raid0 of the disks, without superblocks, through sysfs."""
    nodes = member_disks(config)
    chunk = config["workload"]["raid_chunk_kib"]
    sets = [("metadata_version", "none"), ("level", "raid0"), ("raid_disks", len(nodes)),
            ("chunk_size", chunk * 1024)]
    members = " ".join(node[5:] for node in nodes)
    return ("modprobe raid0 && echo " + RAID + " >/sys/module/md_mod/parameters/new_array && "
            f"cd /sys/block/{RAID}/md && "
            + " && ".join(f"echo {value} >{key}" for key, value in sets)
            + f" && slot=0 && for disk in {members}; do cat /sys/block/$disk/dev >new_dev && "
            "echo $slot >dev-$disk/slot && echo $(($(cat /sys/block/$disk/size) / 2)) >dev-$disk/size "
            "|| exit 1; slot=$((slot + 1)); done; echo active >array_state && "
            f"[ $(cat /sys/block/{RAID}/size) -gt 0 ]")


def beside_jobs(config):
    """fio's jobs that run beside the load, on disks of their own."""
    table, names = beside(config), disk_names(config)
    out = []
    for number in table.get("disks", []):
        out += [f"--name={metrics.BESIDE}{number}", "--new_group=1", f"--filename=/dev/{names[number]}",
                *(fio_options.argument(key, value) for key, value in table.items()
                  if key not in knobs.table("beside"))]
    return out


def fio_argv(workload, nodes, changed=None, others=()):
    """The fio command line of a workload on NODES, and OTHERS beside it; CHANGED options override its own."""
    options = {key: val for key, val in workload.items() if key not in knobs.table("workload")}
    jobs = []
    if len(nodes) > 1 or others:
        jobs = [word for node in nodes for word in (f"--name={node[5:]}", f"--filename={node}")]
    else:
        options.setdefault("filename", FILE if workload["target"] == "file" else nodes[0])
    if str(options.get("rw")).split(":")[0] in (
            "rw", "readwrite", "randrw", "trimwrite"):
        options.setdefault("unified_rw_reporting", "both")
    options.update(changed or {})
    # Options of an engine are known from its name on.
    options = {key: options[key] for key in sorted(options, key=lambda key: key != "ioengine")}
    return ["fio", *([] if jobs else ["--name=irqbed"]),
            *(fio_options.argument(k, v) for k, v in options.items()),
            "--group_reporting=1", "--output-format=json", "--eta=never", *jobs, *others]


def dd_script(workload, nodes, limit_s=0):
    """Shell text that reads all NODES at once, each by a dd of its own; ended after LIMIT_S seconds if given."""
    block = fio_options.size_bytes(workload["bs"])
    count = fio_options.size_bytes(workload["size"]) // block
    limit = f"timeout {limit_s:g} " if limit_s else ""
    started = " ".join(f"{limit}dd if={node} of=/dev/null bs={block} count={count} & all=\"$all $!\";"
                       for node in nodes)
    return (f"{started} rc=0; "
            "for pid in $all; do wait $pid || rc=$?; done; exit $rc")


def load_argv(config, changed=None):
    """The command line of a cell's load; CHANGED: options of fio that override its own."""
    workload, nodes = config["workload"], load_disks(config)
    if workload["tool"] == "dd":
        return ["/bin/sh", "-c", dd_script(workload, nodes)]
    argv = fio_argv(workload, nodes, changed, beside_jobs(config))
    # Its helper thread takes the IOPS samples; on the interrupt's CPU it may not run for a second.
    return ["taskset", "-c", workload["cpus_allowed"], *argv] if "cpus_allowed" in workload else argv


def limit_ms(workload):
    """Guest time after which one run of this workload is ended."""
    if workload["limit"]:
        return int(workload["limit"] * 1000)
    if "runtime" not in workload:
        return UNTIMED_LIMIT_S * 1000
    runs_s = (fio_options.seconds(workload["runtime"])
              + fio_options.seconds(workload.get("ramp_time", 0)))
    return int(runs_s * 4000) + 60_000


def add_boot_steps(job, boot):
    """What is done once, before the first cell."""
    config = boot.config
    job.exec("uname", ["uname", "-r"])
    job.shell("driver", load_driver_script(config), SETUP_LIMIT_MS)
    if config["workload"]["target"] == "file":
        job.shell("filesystem", make_fs_script(config), SETUP_LIMIT_MS)
    elif config["workload"]["target"] == "raid0":
        job.shell("raid", make_raid_script(config), SETUP_LIMIT_MS)
    if "probe" in config:
        job.exec("probe", ["insmod", PROBE_MODULE], SETUP_LIMIT_MS)
    return job


def add_warmup(job, boot):
    """Lay the file out, then a load that is thrown away."""
    first = boot.cells[0].config
    workload = first["workload"]
    if workload["target"] == "file":
        job.exec("layout", load_argv(first, {"create_only": True, "numjobs": 1}), SETUP_LIMIT_MS)
    if workload["warmup"] and workload["tool"] == "dd":
        job.shell("warmup", dd_script(workload, load_disks(first), workload["warmup"]), SETUP_LIMIT_MS)
    elif workload["warmup"]:
        changed = {"time_based": True, "runtime": workload["warmup"]}
        job.exec("warmup", load_argv(first, changed), SETUP_LIMIT_MS)
    add_settle(job, first)
    job.dmesg()


def settle_script(paths):
    """Shell text that waits until blk-mq takes no disk of these controllers for active, and says how long."""
    users = " ".join(f"{path}/tag_users" for path in paths)
    return ("ms() { read up rest </proc/uptime; now=$((${up%.*} * 1000 + 1${up#*.}0 - 1000)); }; ms; from=$now; "
            f'while [ "$(cat {users} | sort -u)" != 0 ]; do usleep {SETTLE_STEP_US}; done; '
            "ms; echo $((now - from))")


def add_settle(job, config):
    if config["workload"]["settle"] and config["driver"]["module"] == "irqbed":
        job.shell("settle", settle_script(debugfs_dirs(config).values()), SETUP_LIMIT_MS)


def add_cell_steps(job, cell, recorder=None):
    """One cell: set the driver, reset the counters, measure, read them; RECORDER: a timeline.Recorder."""
    config = cell.config
    ours = config["driver"]["module"] == "irqbed"
    dirs = debugfs_dirs(config) if ours else {}
    job.cell(cell.id)
    for path in dirs.values():
        for key in knobs.DRIVER_LIVE:
            job.write(f"{path}/{key}", config["driver"][key])
    for name in disk_names(config):
        for key, value in config["block"].items():
            if value != "default":
                job.write(f"/sys/block/{name}/queue/{key}", value)
    job.exec("sync", ["sync"])
    if recorder:
        recorder.before_reset(job)
    for path in dirs.values():
        job.write(f"{path}/reset_stats", "1")
    job.stats("before", reset=True)
    workload = config["workload"]
    job.read("guest.before", "/proc/stat")
    if recorder:
        recorder.before_load(job)
    for number in range(workload["repeats"]):
        if workload["tool"] == "dd":
            job.write("/proc/sys/vm/drop_caches", "3")
        for lun in beside(config).get("test_unit_ready", []):
            job.write(f"{next(iter(dirs.values()))}/test_unit_ready", lun)
        job.exec(f"{workload['tool']}{number}", load_argv(config), limit_ms(workload))
    job.read("guest.after", "/proc/stat")
    if recorder:
        recorder.after_load(job)
    add_settle(job, config)
    job.exec("sync", ["sync"])
    for name, path in dirs.items():
        job.read(f"driver.{name}", f"{path}/stats")
        for key in knobs.DRIVER_LIVE:
            job.read(f"knob.{name}.{key}", f"{path}/{key}")
    for name in disk_names(config):
        for key in config["block"]:
            job.read(f"queue.{name}.{key}", f"/sys/block/{name}/queue/{key}")
    job.stats("device")
    job.dmesg()
    job.end()


def make_job(boot, recorder=None):
    """The whole job file of a boot."""
    job = Job()
    add_boot_steps(job, boot)
    add_warmup(job, boot)
    for cell in boot.cells:
        add_cell_steps(job, cell, recorder)
    return job.poweroff()


def make_shell_job(boot):
    """What makes the VM ready for a person: driver, file system, then a shell."""
    return add_boot_steps(Job(), boot).leave()


def virtual_seconds(boot):
    """Roughly how much guest time the cells take, for estimates and limits."""
    total = 0.0
    for cell in boot.cells:
        workload = cell.config["workload"]
        runs_s = fio_options.seconds(workload["runtime"]) if "runtime" in workload else 10
        total += runs_s * workload["repeats"] + 0.5
    return total
