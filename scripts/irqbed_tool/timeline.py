# SPDX-License-Identifier: GPL-2.0-or-later
"""`run --timeline`: one cell once more, in a VM of its own, recorded on both sides.

The cell's result is not touched: the recorded VM is another one.  Its guest
executes a little more, the trace events, which is why its figures differ
somewhat from the cell's.
"""

import re
from dataclasses import dataclass

from . import chrome, evaluate, ftrace, plan, vm
from .errors import RunError, UserError

TRACING = "/sys/kernel/tracing"
DEFAULT_REQUESTS = 100
DEFAULT_WINDOW_US = 2000
BEFORE_US = 500                 # the default window begins so long before an injection
MAX_WINDOW_US = 10_000_000
MAX_REQUESTS = 100_000
# The guest records so much more on both sides of a window of time.
MARGIN_US = 3000
# As many requests as a queue can have in flight: the ends of the window's own.
MARGIN_REQUESTS = 64
BUFFER_KIB = 4096
EVENTS = ("irq/irq_handler_entry", "irq/irq_handler_exit", "sched/sched_switch")
SOFTIRQS = ("irq/softirq_entry", "irq/softirq_exit")
# A mark cannot be written when nothing is recorded any more.
OFF = f"echo {ftrace.MARK_OFF} >trace_marker 2>/dev/null; echo 0 >tracing_on"
SOFTIRQ_FILTER = "vec == 4 || vec == 5"         # BLOCK, IRQ_POLL
OUR_EVENTS = tuple(f"irqbed/irqbed_{name}" for name in ("submit", "hardirq", "handover", "thread", "softirq", "work",
                                                        "polled", "end"))


@dataclass(frozen=True)
class Window:
    """Of time after the statistics' reset (for_us), or of each queue's requests (requests)."""

    from_us: int = 0
    for_us: int = 0
    first: int = 0
    requests: int = 0


def window_of(text, option, most, least=1):
    """(FIRST, LENGTH) of an option FIRST:LENGTH."""
    match = re.fullmatch(r"(\d{1,12}):(\d{1,12})", text)
    if not match or not least <= int(match[2]) <= most:
        raise UserError(f"{option}: {text}: is not allowed; must be FIRST:LENGTH, two whole "
                        f"numbers, LENGTH {least} to {most}")
    return int(match[1]), int(match[2])


def default_window(cell):
    """Around the first injection that has a time or a number, else the first requests."""
    for entry in filter(lambda entry: entry.get("enabled", True), cell.config.get("inject", [])):
        if entry.get("at_ns") is not None:
            return Window(from_us=max(0, entry["at_ns"] // 1000 - BEFORE_US), for_us=DEFAULT_WINDOW_US)
        number = entry.get("after") or entry.get("every")
        if number:
            return Window(first=max(0, number - DEFAULT_REQUESTS // 2), requests=DEFAULT_REQUESTS)
    return Window(requests=DEFAULT_REQUESTS)


def choose(exp, cell_id, time, requests):
    """(cell, Window) from the command's options; None for those not given."""
    cell = next((cell for cell in exp.cells if cell_id in (None, cell.id)), None)
    if cell is None:
        raise UserError(f"--timeline-cell: {cell_id}: is no cell of {exp.label}; for example {exp.cells[0].id}")
    if cell.config["machine"]["clock"] != "virtual":
        raise UserError(f'--timeline: {exp.label}: machine.clock is "host", in which the two sides have two clocks; '
                        'needs "virtual"')
    if time and requests:
        raise UserError("--timeline-window: given beside --timeline-requests; give one of them")
    if time:
        return cell, Window(*window_of(time, "--timeline-window", MAX_WINDOW_US))
    if requests:
        first, count = window_of(requests, "--timeline-requests", MAX_REQUESTS)
        return cell, Window(first=first, requests=count)
    return cell, default_window(cell)


class Recorder:
    """What the guest and the devices are told, and what they have to say afterwards."""

    def __init__(self, cell, window):
        self.cell = cell
        self.window = window
        config = cell.config
        self.addresses = {vm.pci_address(index): device["id"] for index, device in enumerate(config["device"])}
        self.ours = config["driver"]["module"] == "irqbed"
        self.dirs = plan.debugfs_dirs(config) if self.ours else {}

    def knobs(self):
        """Of every device."""
        window = self.window
        if window.for_us:
            return {"record_from_ns": window.from_us * 1000, "record_for_ns": (window.for_us + MARGIN_US) * 1000}
        return {"record_first": window.first, "record_requests": window.requests}

    def prepare_script(self):
        """Shell text: the guest's trace buffer, its clock and events."""
        machine = self.cell.config["machine"]
        size = min(BUFFER_KIB, machine["memory"] * 1024 // 8 // machine["cpus"])
        sets = [("tracing_on", 0), ("trace_clock", "x86-tsc"), ("buffer_size_kb", size), ("options/overwrite", 0),
                *((f"events/{name}/filter", SOFTIRQ_FILTER) for name in SOFTIRQS),
                *((f"events/{name}/enable", 1) for name in (*EVENTS, *SOFTIRQS, *(OUR_EVENTS if self.ours else ())))]
        return f"cd {TRACING} && " + " && ".join(f"echo '{value}' >{name}" for name, value in sets)

    def start_script(self):
        """Shell text: recording begins when the window does; run between the reset and the load."""
        on = f"echo 1 >tracing_on; echo {ftrace.MARK_ON} >trace_marker"
        window = self.window
        if window.for_us:
            before, length = max(0, window.from_us - MARGIN_US), window.for_us + 2 * MARGIN_US
            wait = f"usleep {before}; " if before else ""
            return f"cd {TRACING} && ({wait}{on}; usleep {length}; {OFF}) >/dev/null 2>&1 &"
        if not window.first or not self.ours:
            return f"cd {TRACING} && {on}"
        # An event has one such trigger at most.
        return (f"cd {TRACING} && {self.trigger_script('submit', 'traceon', window.first)} && "
                + self.trigger_script("end", "traceoff", window.first + window.requests + MARGIN_REQUESTS))

    def trigger_script(self, event, what, number):
        """Shell text: tracing goes on or off at a queue's request of that number, whichever queue is first there."""
        paths = " ".join(f"{path}/stats" for path in self.dirs.values())
        # One line for each queue of each device: address, queue, doorbells so far.
        each = (r"sed -n 's/^\"\([0-9]*\)\":{\"state\":\"[a-z]*\",\"doorbells\":\([0-9]*\),.*/\1 \2/p' $file")
        return (f"all=; for file in {paths}; do dev=${{file%/stats}}; dev=${{dev##*/}}; "
                f"while read q n; do all=\"$all${{all:+||}}(dev==\\\"$dev\\\"&&q==$q&&seq>=$((n+{number})))\"; "
                f"done <<END\n$({each})\nEND\ndone; echo \"{what}:1 if $all\" >events/irqbed/irqbed_{event}/trigger")

    def before_reset(self, job):
        job.shell("timeline.prepare", self.prepare_script(), plan.SETUP_LIMIT_MS)

    def before_load(self, job):
        job.shell("timeline.start", self.start_script(), plan.SETUP_LIMIT_MS)

    def after_load(self, job):
        job.shell("timeline.stop", f"cd {TRACING}; {OFF}; "
                  "for cpu in per_cpu/cpu*; do set -- $(grep '^dropped events' $cpu/stats); "
                  "echo ${cpu##*cpu} $3; done", plan.SETUP_LIMIT_MS)
        job.exec("timeline.trace", ["cat", f"{TRACING}/trace"], plan.SETUP_LIMIT_MS)
        job.records("timeline")


def record(cell, window, limit_s=0):
    """The trace, as the object of the file."""
    recorder = Recorder(cell, window)
    boot = plan.Boot(plan.make_machine(cell.config["machine"]), cell.config, [cell])
    with vm.Vm(boot.machine, [], plan.make_job(boot, recorder), boot.extra()) as machine:
        machine.devices = boot.devices(machine.dir)
        for device in machine.devices:
            device.knobs.update(recorder.knobs())
        plan.prepare_images(boot, machine.dir)
        outcome = machine.run(step_limit_s=limit_s or 1800)
    trouble = evaluate.boot_trouble(outcome.answers)
    if outcome.status != "done" or trouble:
        raise RunError(f"timeline: {trouble or outcome.status + ': ' + outcome.reason}")
    answers = [answer for answer in outcome.answers if answer.get("cell")]
    for answer in answers:
        if answer["type"] == "exec" and answer["name"].startswith("timeline.") and answer["rc"]:
            raise RunError(f"timeline: {answer['name']}: {answer['err'].strip()}")
    found = {answer["name"]: answer for answer in answers if answer["type"] in ("exec", "stats")}
    guest = ftrace.parse(found["timeline.trace"]["out"], ftrace.full_since(found["timeline.stop"]["out"]))
    if not guest.end_ns > guest.begin_ns:
        raise RunError("timeline: the guest has recorded nothing in that window; the load may have ended before it")
    entry = evaluate.evaluate(cell, answers)
    return chrome.build(recorder, entry, guest, found["timeline"]["devices"])
