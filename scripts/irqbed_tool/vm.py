# SPDX-License-Identifier: GPL-2.0-or-later
"""One VM: its QEMU command line, its run, and how it ended.

The guest works through a job file (jobs.py) by itself; the host only watches.
Nothing that the host does while the VM runs reaches the guest, so that a run
in virtual time is the same on every host.
"""

import ctypes
import dataclasses
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from . import paths
from .errors import UserError
from .jobs import AnswerReader

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1            # prctl(2)

POLL_S = 0.05
DIR_PREFIX = "irqbed-"          # of a VM's directory, among the temporary ones
QMP_SOCKET = "qmp"
CONSOLE_TAIL_LINES = 20
CTL_ADDR = 3
FIRST_DEVICE_ADDR = 4
PROBE_ADDR = 0x1e
PROBE_ID = "irqbed-probe"       # a controller's id has no hyphen

# How a VM can end. "done" alone means that the job file was worked through.
STATUSES = ("done", "panic", "hang", "timeout", "no-init", "agent-died", "died", "qemu-error",
            "interrupted")


def die_with_parent():
    """In QEMU's process before QEMU starts: whoever kills us, even at once, leaves no VM behind."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@dataclasses.dataclass
class Lu:
    """A logical unit or drive: a raw image file behind a block node."""

    path: str
    options: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Device:
    """An emulated controller: QOM type, id, knobs as QOM properties, disks."""

    type: str                   # "irqbed-ufs", or any other QEMU device
    id: str
    knobs: dict = dataclasses.field(default_factory=dict)
    lus: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Machine:
    """What a boot depends on; one boot serves all cells that agree on it."""

    cpus: int = 4
    memory_mib: int = 768
    kernel: str = paths.DEFAULT_KERNEL
    clock: str = "virtual"      # or "host"
    ns_per_insn: object = 1     # a number or a list, one for each vCPU
    quantum_ns: int = 0         # 0: the default of the clock
    seed: int = 1
    kernel_args: tuple = ()
    iommu: str = "none"         # or "intel": with interrupt remapping


@dataclasses.dataclass
class Outcome:
    status: str                 # one of STATUSES
    answers: list
    reason: str = ""            # one line for the user
    console_tail: list = dataclasses.field(default_factory=list)
    returncode: int = 0
    wall_s: float = 0.0


def _prop(value):
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):         # percentiles: 99.9:2000000
        value = ",".join(f"{percentile:.6f}:{number}" for percentile, number in value)
    return str(value).replace(",", ",,")


def pci_address(index):
    """Guest PCI address of the index-th controller."""
    return f"0000:00:{FIRST_DEVICE_ADDR + index:02x}.0"


def icount_option(machine):
    """Parallel virtual time (docs/virtual-time.md): -icount's argument."""
    per_cpu = machine.ns_per_insn
    if not isinstance(per_cpu, (list, tuple)):
        per_cpu = [per_cpu]
    option = "parallel=on,insn-ns=" + ":".join(str(ns) for ns in per_cpu)
    return option + (f",quantum={machine.quantum_ns}" if machine.quantum_ns else "")


def has_kvm():
    """Can KVM run an unmodified guest here?

    /dev/kvm alone does not say so: a host that is itself a VM without nested
    virtualization can offer a KVM that takes only guests made for it.
    """
    try:
        flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        return False
    return (bool(flags) and not {"vmx", "svm"}.isdisjoint(flags.group(1).split())
            and os.access("/dev/kvm", os.R_OK | os.W_OK))


def cpu_model(machine):
    """The same CPU on every host in virtual time; the host's, or all of TCG's, otherwise."""
    if machine.clock == "virtual":
        return "qemu64,+rdrand"
    return "host" if has_kvm() else "max"


def clock_args(machine):
    """Accelerator and clock part of the command line."""
    if machine.clock == "virtual":
        return ["-accel", "tcg,thread=single", "-icount", icount_option(machine),
                "-rtc", "base=2026-01-01,clock=vm", "-seed", str(machine.seed)]
    return ["-accel", "kvm" if has_kvm() else "tcg,thread=multi"]


def kernel_cmdline(machine, mode):
    words = ["console=ttyS0", "nokaslr", "mitigations=off", "idle=halt", "panic=-1",
             "tsc=reliable", "random.trust_cpu=on", "net.ifnames=0", f"irqbed.mode={mode}"]
    if machine.iommu == "intel":
        words += ["intel_iommu=on", "iommu=pt"]
    return " ".join([*words, *machine.kernel_args])


def iommu_args(machine):
    """Devices behind it must come later on the command line."""
    if machine.iommu == "none":
        return []
    return ["-machine", "kernel-irqchip=split", "-device", "intel-iommu,intremap=on"]


# How a controller's disks are called on the command line: what its type ends
# in, and the property that tells them apart.
DISKS = {"irqbed-ufs": ("lu", "lun"), "irqbed-ahci": ("drive", "port")}


def device_args(devices):
    argv = []
    for index, dev in enumerate(devices):
        knobs = "".join(f",{k.replace('_', '-')}={_prop(v)}" for k, v in dev.knobs.items())
        argv += ["-device", f"{dev.type},id={dev.id},addr={FIRST_DEVICE_ADDR + index:#x}{knobs}"]
        suffix, number = DISKS.get(dev.type, ("lu", "lun"))
        for lun, lu in enumerate(dev.lus):
            node = f"{dev.id}lu{lun}"
            options = "".join(f",{k.replace('_', '-')}={_prop(v)}" for k, v in lu.options.items())
            argv += ["-blockdev", f"driver=raw,node-name={node},discard=unmap,file.driver=file,"
                                  f"file.filename={_prop(lu.path)}",
                     "-device", f"{dev.type}-{suffix},id={dev.id}-{suffix}{lun},bus={dev.id}.0,"
                                f"{number}={lun},drive={node}{options}"]
    return argv


def probe_args(probe):
    """PROBE: its properties, or None."""
    if not probe:
        return []
    knobs = "".join(f",{k.replace('_', '-')}={_prop(v)}" for k, v in probe.items())
    return ["-device", f"irqbed-probe,id={PROBE_ID},addr={PROBE_ADDR:#x}{knobs}"]


class Vm:
    """A VM in a private directory; run() it once.

    machine: Machine; devices: list of Device; job: jobs.Job.
    extra: further QEMU arguments.  mode: "agent", or "shell" for the console.
    overlay: further initramfs archives (paths) to append.
    """

    def __init__(self, machine, devices, job, extra=(), mode="agent", overlay=(), workdir=None):
        self.machine = machine
        self.devices = devices
        self.job = job
        self.extra = list(extra)
        self.mode = mode
        self.overlay = list(overlay)
        self.own_dir = workdir is None
        self.dir = Path(workdir or tempfile.mkdtemp(prefix=DIR_PREFIX))
        self.process = None

    def console(self):
        return self.dir / "console"

    def out(self):
        return self.dir / "answers"

    def qmp_socket(self):
        return self.dir / QMP_SOCKET

    def argv(self):
        """The complete QEMU command line."""
        m = self.machine
        serial = f"file:{self.console()}" if self.mode == "agent" else "mon:stdio"
        argv = [
            str(paths.qemu()), "-L", str(paths.firmware()), "-nodefaults", "-no-user-config",
            "-display", "none", "-no-reboot",
            "-machine", "q35,sata=off,smbus=off,vmport=off", *iommu_args(m),
            "-cpu", cpu_model(m),
            "-smp", str(m.cpus), "-m", f"{m.memory_mib}M", *clock_args(m),
            "-kernel", str(paths.vmlinuz(m.kernel)), "-initrd", str(self.initramfs()),
            "-append", kernel_cmdline(m, self.mode), "-serial", serial,
            "-qmp", f"unix:{self.qmp_socket()},server=on,wait=off",
            "-chardev", f"file,id=irqbed-out,path={self.out()}",
            "-device", f"irqbed-ctl,addr={CTL_ADDR:#x},job={self.dir / 'job'},out=irqbed-out",
        ]
        return argv + device_args(self.devices) + self.extra

    def initramfs(self):
        base = paths.initramfs(self.machine.kernel)
        return self.dir / "initramfs" if self.overlay else base

    def prepare(self):
        """Write what QEMU reads: the job file, the initramfs with its additions."""
        (self.dir / "job").write_text(self.job.text())
        if self.overlay:
            with open(self.initramfs(), "wb") as to:
                for part in (paths.initramfs(self.machine.kernel), *self.overlay):
                    with open(part, "rb") as source:
                        shutil.copyfileobj(source, to)

    def cleanup(self):
        if self.own_dir:
            shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.kill()
        self.cleanup()

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def start(self):
        self.prepare()
        self.stderr = open(self.dir / "stderr", "wb+")
        self.process = subprocess.Popen(self.argv(), stdin=subprocess.DEVNULL, stdout=self.stderr,
                                        stderr=self.stderr, start_new_session=True,
                                        preexec_fn=die_with_parent)     # pylint: disable=subprocess-popen-preexec-fn

    def run(self, on_answer=None, boot_limit_s=300, step_limit_s=1800, total_limit_s=7200):
        """Run to the end; on_answer(dict) is called for each answer as it comes.

        The limits are wall time: until the first answer, between two answers,
        and for everything.  Returns an Outcome; never raises for what the guest
        or QEMU does.  Ctrl-C ends the VM and is raised on.
        """
        start_s = time.monotonic()
        self.start()
        reader = AnswerReader(self.out())
        answers = []
        last_s = start_s
        limit = ""
        try:
            while True:
                ended = self.process.poll() is not None
                new = reader.poll()
                now_s = time.monotonic()
                for answer in new:
                    answers.append(answer)
                    if on_answer:
                        on_answer(answer)
                if new:
                    last_s = now_s
                if ended and not new:
                    break
                if now_s - start_s > total_limit_s:
                    limit = f"ran for more than {total_limit_s} s"
                elif now_s - last_s > (step_limit_s if answers else boot_limit_s):
                    limit = f"no answer from the guest for {now_s - last_s:.0f} s"
                if limit:
                    break
                if not new:
                    time.sleep(POLL_S)
        finally:
            self.kill()
        outcome = self.judge(answers, limit)
        outcome.wall_s = time.monotonic() - start_s
        return outcome

    def judge(self, answers, limit):
        """Say how the VM ended, from its exit status, console and answers."""
        try:
            console = self.console().read_text(errors="replace")
        except FileNotFoundError:
            console = ""
        tail = [re.sub(r"[^\t -~]", "", line) for line in console.splitlines()]
        code = self.process.returncode
        outcome = Outcome("done", answers, "", tail[-CONSOLE_TAIL_LINES:], code)
        self.stderr.seek(0)
        said = self.stderr.read().decode(errors="replace").strip()
        panic = re.search(r"Kernel panic - not syncing.*", console)
        if panic:
            outcome.status, outcome.reason = "panic", panic.group(0).strip()
        elif limit and limit.startswith("ran"):
            outcome.status, outcome.reason = "timeout", limit
        elif limit:
            outcome.status, outcome.reason = "hang", limit
        elif code < 0:
            name = signal.Signals(-code).name
            outcome.status, outcome.reason = "died", f"QEMU was ended by {name}"
        elif code:
            outcome.status = "qemu-error"
            outcome.reason = said.splitlines()[-1] if said else f"QEMU exit status {code}"
        elif answers and answers[-1]["type"] == "done":
            pass
        elif "irqbed-init: the agent ended" in console:
            outcome.status, outcome.reason = "agent-died", "the guest agent ended early"
        elif not answers:
            outcome.status, outcome.reason = "no-init", "the guest never reached its agent"
        else:
            outcome.status, outcome.reason = "died", "the VM went off before the job's end"
        return outcome


def need_built():
    """Fail with one line when set-up has not been done."""
    for path in (paths.qemu(), paths.vmlinuz(), paths.initramfs()):
        if not path.exists():
            raise UserError(f"{path} is missing; run `irqbed setup` first")
