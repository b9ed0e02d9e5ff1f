#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs tests of this directory in a VM and prints TAP.

usage: run.py NAME...      run.py handover limits stock-kernels@7.2
       run.py matrix-ufs:irq-lost:threaded       one fault, one policy (docs/faults.md)
       run.py --list

A test is NAME.sh, a KTAP script for the guest's shell. Its header says which
machine it needs; tests that can share a machine share one boot, each with a
controller of its own:

  # irqbed-type: ufs | ahci        kind of controller (default ufs)
  # irqbed-device: KNOB=VALUE...   properties of the controller
  # irqbed-controllers: N          so many of them, all alike (default 1)
  # irqbed-disks: N                disks of each, of 32 MiB (default 1)
  # irqbed-lu: N KNOB=VALUE..., N ...   properties of disk N
  # irqbed-driver: stock | irqbed [PARAMETER=VALUE...]
  # irqbed-cpus: N                 (default 2)
  # irqbed-kernel: VERSION...      (default 6.12); of several each is a test of
                                   its own, NAME@VERSION, and is skipped when
                                   the kernel cannot be had
  # irqbed-clock: virtual | host   (default virtual)
  # irqbed-insn: NS                virtual time of an instruction (default 1)
  # irqbed-args: WORD...           further words of the kernel's command line
  # irqbed-probe: KNOB=VALUE...    an irqbed-probe with these properties
  # irqbed-slot: root              the controller sits in a slot that can be
                                   switched off: no other test shares its boot
  # irqbed-iommu: on               interrupts can be remapped: several MSI
  # irqbed-limit: SECONDS          of guest time (default 300)
  # irqbed-expects: PATTERN        complaints of the kernel that belong to the
                                   test, which fails without one

environment: GUEST_PROGRAMS, the folder with the programs of this directory (built by meson)

What only the host can do a test asks for by a line on the console, see host_do
in ktap.sh; that is for clock: host, as it takes a while.

After each test the kernel's messages are looked at: a test whose checks are
all good fails all the same when the kernel complained.
"""

import dataclasses
import json
import os
import re
import sys
import tempfile
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parents[1]
sys.path[:0] = [str(REPO / "scripts"), str(REPO / "tests" / "clock")]

# pylint: disable=wrong-import-position
import faults_doc
import qmp
from irqbed_tool import jobs, paths, setup, vm
from irqbed_tool.errors import UserError
from irqbed_tool.evaluate import kernel_trouble
from irqbed_tool.setup import cpio

DISK_BYTES = 32 << 20
HEADER = re.compile(r"^# irqbed-(\w+):\s*(.*)$", re.M)
DEFAULTS = {"type": "ufs", "device": "", "controllers": "1", "disks": "1", "lu": "", "driver": "irqbed", "cpus": "2",
            "kernel": paths.DEFAULT_KERNEL, "clock": "virtual", "insn": "1", "args": "", "probe": "", "slot": "",
            "iommu": "", "limit": "300", "expects": ""}
# A root port, so that the controller behind it can vanish; the guest's own
# hot-plug driver has to notice, not ACPI.
SLOT_ADDRESS = "0000:00:10.0"
SLOT_ARGS = ("-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off",
             "-device", "pcie-root-port,id=root,chassis=1,slot=1,addr=0x10")
RESULT = re.compile(r"^\s*(ok|not ok)\s+\d+\s*-?\s*(.*)$")
PLAN = re.compile(r"^\s*1\.\.(\d+)(?:\s*# SKIP\s*(.*))?$")
# Several messages of one function need interrupt remapping on x86.
IOMMU_ARGS = ("-device", "intel-iommu,intremap=on")
IOMMU_WORDS = ("intel_iommu=on", "iommu=pt")
HOST_DO = re.compile(r"irqbed-host: (.*)")
KTAP_SKIP = 4
TAIL_LINES = 30
# In host time TCG is no good clock, and the kernel says so.
HOST_CLOCK_NOISE = re.compile(r"clocksource|TSC|tsc")


@dataclasses.dataclass(frozen=True)
class Machine:
    """What tests must agree on to share a boot."""

    cpus: int
    kernel: str
    clock: str
    insn_ns: int
    args: str
    probe: str
    slot: str
    iommu: str


@dataclasses.dataclass
class Case:
    name: str               # NAME, or NAME@VERSION
    script: str
    type: str
    machine: Machine
    knobs: dict
    controllers: int
    disks: int
    lus: dict               # properties of disks, by their numbers
    params: str
    limit_s: int
    expects: str
    only: str = ""          # part of it that is to be run, in the script's own words
    index: int = 0          # of its first controller in the VM


class Tap:
    """Numbered results on standard output; the plan comes last."""

    def __init__(self):
        self.count = self.failed = 0

    def result(self, good, text):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {text}", flush=True)

    def skip(self, name, reason):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {reason}", flush=True)

    @staticmethod
    def note(text):
        for line in str(text).splitlines():
            print(f"# {line}", flush=True)

    def end(self):
        print(f"1..{self.count}", flush=True)


def known_names():
    return sorted(p.stem for p in HERE.glob("*.sh") if not p.stem.startswith("ktap"))


def knobs_of(words):
    """{knob: value} of "KNOB=VALUE..."."""
    return dict(knob.split("=", 1) for knob in words.split())


def read_cases(word):
    """The Cases that a script's header describes, or the one for NAME@VERSION; see usage for NAME:PART."""
    word, _, part = word.partition(":")
    name, _, only = word.partition("@")
    path = HERE / f"{name}.sh"
    if name not in known_names():
        raise UserError(f"tests/guest: no test {name}; there are {', '.join(known_names())}")
    said = dict(DEFAULTS)
    for key, value in HEADER.findall(path.read_text()):
        if key not in DEFAULTS:
            raise UserError(f"{path}: irqbed-{key}: no such key; there are {', '.join(DEFAULTS)}")
        said[key] = value.strip()
    if said["type"] not in ("ufs", "ahci"):
        raise UserError(f"{path}: irqbed-type: {said['type']}; must be ufs or ahci")
    words = said["driver"].split()
    if words[0] not in ("irqbed", "stock"):
        raise UserError(f"{path}: irqbed-driver: {words[0]}; must be irqbed or stock")
    versions = said["kernel"].split()
    if only and only not in versions:
        raise UserError(f"tests/guest: {word}: must be one of {', '.join(f'{name}@{v}' for v in versions)}")
    knobs = knobs_of(said["device"])
    lus = {int(number): knobs_of(" ".join(options))
           for number, *options in (text.split() for text in said["lu"].split(",") if text)}
    cases = []
    for version in [only] if only else versions:
        machine = Machine(int(said["cpus"]), version, said["clock"], int(said["insn"]),
                          said["args"], said["probe"], said["slot"], said["iommu"])
        full_name = name if len(versions) == 1 else f"{name}@{version}"
        cases.append(Case(full_name, name, said["type"], machine, knobs, int(said["controllers"]),
                          int(said["disks"]), lus, " ".join(words[1:]), int(said["limit"]), said["expects"], part))
    return cases


def by_machine(cases):
    groups = {}
    for case in cases:
        groups.setdefault((case.machine, case.machine.slot and case.name), []).append(case)
    return groups.values()


def make_devices(cases, folder):
    """Each test's controllers, with images of its own."""
    devices = []
    for case in cases:
        case.index = len(devices)
        for _ in range(case.controllers):
            index = len(devices)
            lus = []
            for lun in range(case.disks):
                image = folder / f"{index}-{lun}.img"
                with open(image, "wb") as file:
                    file.truncate(DISK_BYTES)
                lus.append(vm.Lu(str(image), case.lus.get(lun, {})))
            devices.append(vm.Device(f"irqbed-{case.type}", f"{case.type}{index}", case.knobs, lus))
    return devices


def make_job(cases):
    job = jobs.Job().dmesg()
    for case in cases:
        numbers = range(case.index, case.index + case.controllers)
        addresses = ["0000:01:00.0"] if case.machine.slot else [vm.pci_address(number) for number in numbers]
        env = {"IRQBED_PCI": addresses[0], "IRQBED_ID": f"{case.type}{case.index}", "IRQBED_SLOT": SLOT_ADDRESS,
               "IRQBED_ALL": " ".join(f"{address}/{case.type}{number}"
                                      for address, number in zip(addresses, numbers)),
               "IRQBED_DISKS": case.disks, "IRQBED_PARAMS": case.params,
               "IRQBED_TEST": case.name, "IRQBED_ONLY": case.only}
        words = " ".join(f"{key}='{value}'" for key, value in env.items())
        job.cell(case.name).shell("test", f"{words} exec /bin/sh /tests/{case.script}.sh",
                                  case.limit_s * 1000).dmesg().end()
    return job.poweroff()


def scripts_archive(folder):
    """The part of the initramfs that is the tests': scripts and their programs."""
    archive = cpio.Archive()
    built = Path(os.environ.get("GUEST_PROGRAMS") or paths.host_build() / "tests" / "guest")
    for program in sorted(HERE.glob("*.c")):
        path = built / f"guest-{program.stem}"
        if path.exists():   # else a test that wants it says that it is not found
            archive.file(f"bin/{program.stem}", path.read_bytes(), executable=True)
    for path in sorted(HERE.glob("*.sh")):
        archive.file(f"tests/{path.name}", path.read_bytes(), executable=True)
    target = folder / "tests.cpio"
    target.write_bytes(archive.finish())
    return target


def report_ktap(tap, case, text):
    """A script's results as our own; returns (all good, number, planned, reason of a skip)."""
    good, count, planned, why = True, 0, None, None
    for line in text.splitlines():
        plan, result = PLAN.match(line), RESULT.match(line)
        if plan:
            planned = int(plan.group(1)) if planned is None else planned
            why = why or plan.group(2)
        elif result:
            count += 1
            passed = result.group(1) == "ok"
            good = good and passed
            tap.result(passed, f"{case.name}: {result.group(2)}")
        elif not line.strip().startswith("KTAP version"):
            tap.note(line.lstrip("# "))
    return good, count, planned, why


def report_case(tap, case, answers):
    """True when the test, its end and the kernel were all as they should be."""
    ran = next((a for a in answers if a["type"] == "exec"), None)
    if not ran or not any(a["type"] == "end" for a in answers):
        tap.result(False, f"{case.name}: runs to its end")
        return False
    good, count, planned, why = report_ktap(tap, case, ran["out"])
    if ran["rc"] == KTAP_SKIP or (planned == 0 and why):
        tap.skip(case.name, why or "the script says so")
        return True
    wrong = []
    if ran["timed_out"]:
        wrong.append(f"expected: an end within {case.limit_s} s of guest time, got: none")
    elif good and ran["rc"] != 0:
        wrong.append(f"expected: exit status 0, got: {ran['rc']}")
    if count != planned:
        wrong.append(f"expected: {planned} checks, got: {count}")
    trouble = kernel_trouble([line for a in answers if a["type"] == "dmesg" for line in a["lines"]])
    if case.machine.clock == "host":
        trouble = [line for line in trouble if not HOST_CLOCK_NOISE.search(line)]
    if case.expects:
        wanted = [line for line in trouble if re.search(case.expects, line)]
        trouble = [line for line in trouble if line not in wanted]
        if not wanted and not case.only:
            wrong.append(f"expected: a complaint of the kernel like {case.expects}, got: none")
    wrong += [f"expected: a silent kernel, got: {line}" for line in trouble]
    if good:
        wrong += faults_doc.differences(ran["out"])
    for text in wrong:
        tap.note(text)
    if not good or wrong:
        tap.note("standard error:\n" + ran["err"])
    tap.result(not wrong, f"{case.name}: runs to its end, without a complaint of the kernel")
    return good and not wrong


def lack_of_kernel(version):
    """Why this kernel cannot be booted, or None; one that is not the default is fetched."""
    if version == paths.DEFAULT_KERNEL:
        return None
    try:
        setup.ensure(kernels=(version,), progress=False)
    except UserError as err:
        return f"kernel {version}: {err}"
    return None


class Hands(threading.Thread):
    """Does what the guest asks for on its console: QMP commands, one JSON object a line."""

    def __init__(self, guest):
        super().__init__(daemon=True)
        self.guest = guest
        self.over = threading.Event()

    def __enter__(self):
        self.start()

    def __exit__(self, *exc):
        self.over.set()
        self.join()

    def run(self):
        done = 0
        while not self.over.wait(0.1):
            try:
                asked = HOST_DO.findall(self.guest.console().read_text(errors="replace"))
            except FileNotFoundError:
                continue
            for text in asked[done:]:
                message = json.loads(text)
                try:
                    with qmp.Qmp(self.guest.qmp_socket()) as monitor:
                        monitor.run(message.pop("execute"), **message)
                except OSError as err:
                    Tap.note(f"the host, asked for {text}: {err}")
            done = len(asked)


def run_group(tap, cases):
    """One boot; the names of the tests that failed."""
    lack = lack_of_kernel(cases[0].machine.kernel)
    if lack:
        for case in cases:
            tap.skip(case.name, lack)
        return []
    first = cases[0].machine
    words = (*first.args.split(), *(IOMMU_WORDS if first.iommu else ()))
    machine = vm.Machine(cpus=first.cpus, kernel=first.kernel, clock=first.clock, ns_per_insn=first.insn_ns,
                         kernel_args=words)
    failed = []
    with tempfile.TemporaryDirectory(prefix="irqbed-guest-") as name:
        folder = Path(name)
        devices = make_devices(cases, folder)
        extra = [*vm.probe_args(knobs_of(first.probe)), *(IOMMU_ARGS if first.iommu else ())]
        if first.slot:
            extra += [*SLOT_ARGS, *(arg.replace("addr=0x4,", "bus=root,") for arg in vm.device_args(devices))]
            devices = []
        with vm.Vm(machine, devices, make_job(cases), extra, overlay=[scripts_archive(folder)]) as guest, \
                Hands(guest):
            outcome = guest.run(step_limit_s=1500)
            console = guest.console().read_text(errors="replace").splitlines()[-TAIL_LINES:]
    for case in cases:
        if not report_case(tap, case, [a for a in outcome.answers if a.get("cell") == case.name]):
            failed.append(case.name)
    if outcome.status != "done":
        tap.note(f"the VM ended early: {outcome.status}: {outcome.reason}")
    if failed:
        tap.note("console, last lines:\n" + "\n".join(re.sub(r"[^\t -~]", "", row) for row in console))
    return failed


def main(argv):
    if argv in ([], ["-h"], ["--help"]):
        print(__doc__)
        return 0 if argv else 2
    if argv == ["--list"]:
        print("\n".join(known_names()))
        return 0
    tap = Tap()
    cases = [case for word in argv for case in read_cases(word)]
    try:
        vm.need_built()
    except UserError as err:
        print(f"1..0 # SKIP {err}")
        return 0
    meson = (HERE / "meson.build").read_text()
    for name in known_names():
        if not re.search(f"'{name}['@]", meson):
            tap.note(f"expected: every test in a group of tests/guest/meson.build, missing: {name}")
            tap.result(False, f"{name} is registered")
    failed = []
    for group in by_machine(cases):
        failed += run_group(tap, group)
    for name in failed:
        tap.note(f"again, alone: tests/guest/run.py {name}")
    tap.end()
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UserError as error:
        print(f"irqbed: {error}", file=sys.stderr)
        sys.exit(error.status)
