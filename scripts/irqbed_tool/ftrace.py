# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's trace buffer, from its text to lists of what happened; times in ns.

The trace clock is the TSC, which in virtual time is the virtual clock itself:
one count is one nanosecond since the machine was made.
"""

import re
from dataclasses import dataclass, field

LINE = re.compile(r"\s*(?P<comm>.+)-(?P<pid>\d+)\s+\[(?P<cpu>\d+)\]\s+\S+\s+(?P<ns>\d+): (?P<what>\w+): (?P<rest>.*)")
SWITCH = re.compile(r"prev_comm=(.*) prev_pid=(\d+) prev_prio=.* ==> next_comm=(.*) next_pid=(\d+) next_prio=")
PAIR = re.compile(r"(\w+)=(\S+)")
MARK_ON, MARK_OFF = "irqbed-on", "irqbed-off"
PASSES = ("hardirq", "thread", "softirq", "work", "polled")


@dataclass
class Slice:
    """Something that lasted; CPU is None where that has no meaning."""

    name: str
    begin_ns: int
    end_ns: int
    cpu: int
    args: dict = field(default_factory=dict)


@dataclass
class Request:
    """A request in the driver, from a doorbell (G1) to its end (G4), or to END_NS without one."""

    dev: str
    queue: int
    tag: int
    seq: int
    begin_ns: int
    args: dict
    end_ns: int = None
    ended: dict = None          # the end's own fields, None: it was not seen


@dataclass
class Guest:
    """What the guest recorded between BEGIN_NS and END_NS."""

    begin_ns: int
    end_ns: int
    requests: list = field(default_factory=list)
    passes: list = field(default_factory=list)      # Slices; args: dev, vector, context and more
    handovers: list = field(default_factory=list)   # (ns, dev, vector, reason)
    tasks: list = field(default_factory=list)       # Slices
    handlers: list = field(default_factory=list)    # Slices; args: irq, and dev and vector of ours
    softirqs: list = field(default_factory=list)    # Slices


def lines(text):
    """[(ns, cpu, comm, what, rest)] of the buffer's text, in its order."""
    out = []
    for line in text.splitlines():
        match = None if line.startswith("#") else LINE.fullmatch(line)
        if match:
            out.append((int(match["ns"]), int(match["cpu"]), match["comm"], match["what"], match["rest"]))
    return out


def full_since(text):
    """CPUs whose buffer was full, from "CPU dropped" lines."""
    return {int(cpu) for cpu, dropped in re.findall(r"^(\d+) (\d+)$", text, re.MULTILINE) if int(dropped)}


def parse(text, full=()):
    """A Guest from the buffer's text; FULL: CPUs that have lost what came last."""
    events = lines(text)
    marks = [(ns, rest) for ns, _, _, what, rest in events if what == "tracing_mark_write"]
    begin = next((ns for ns, rest in marks if rest == MARK_ON), events[0][0] if events else 0)
    end = next((ns for ns, rest in marks if rest == MARK_OFF), events[-1][0] if events else 0)
    for cpu in full:
        end = min([end, *[ns for ns, on, *_ in events if on == cpu][-1:]])
    guest = Guest(begin, end)
    events = [event for event in events if begin <= event[0] <= end]
    _requests(guest, events)
    _passes(guest, events)
    _cpus(guest, events)
    return guest


def _numbers(rest):
    """The fields of one of our own events."""
    return {key: int(value) if re.fullmatch(r"-?\d+", value) else value for key, value in PAIR.findall(rest)}


def _requests(guest, events):
    there = {}
    for ns, cpu, _, what, rest in events:
        if what not in ("irqbed_submit", "irqbed_end"):
            continue
        item = _numbers(rest)
        key = item.pop("dev"), item.pop("q"), item.pop("tag")
        seq = item.pop("seq")
        old = there.pop(key, None)
        if what == "irqbed_submit":
            if old:             # taken back from the hardware, and sent again
                old.end_ns, old.ended = ns, {"taken_back": True}
            there[key] = Request(*key, seq, ns, {**item, "cpu": cpu})
            guest.requests.append(there[key])
        elif old and old.seq == seq:
            old.end_ns, old.ended = ns, {**item, "cpu": cpu}
    for request in there.values():
        request.end_ns = guest.end_ns


def _passes(guest, events):
    last = {}
    for ns, cpu, _, what, rest in events:
        kind = what.removeprefix("irqbed_")
        if what == "irqbed_handover":
            item = _numbers(rest)
            guest.handovers.append((ns, item["dev"], item["q"], item["reason"]))
        elif what.startswith("irqbed_") and kind in PASSES:
            item = _numbers(rest)
            # Several can poll for one vector at once, each on a CPU of its own.
            key = item["dev"], item["q"], kind, cpu if kind == "polled" else 0
            begin = max(ns - item["ns"], last.get(key, 0), guest.begin_ns)
            last[key] = ns
            guest.passes.append(Slice(kind, begin, ns, cpu, {
                "dev": item["dev"], "vector": item["q"], "done": item["done"],
                "left": int(str(item["left"]), 16), "reason": item["reason"]}))


def _cpus(guest, events):
    """What each vCPU did: tasks, hard handlers, softirqs of the block layer."""
    running, handler, softirq = {}, {}, {}
    first = set()
    for ns, cpu, comm, what, rest in events:
        if cpu not in first and what not in ("sched_switch", "tracing_mark_write"):
            running.setdefault(cpu, (guest.begin_ns, comm))
        if what == "sched_switch":
            before, _, after, _ = SWITCH.match(rest).groups()
            begin, name = running.pop(cpu, (guest.begin_ns, before))
            _task(guest, name, begin, ns, cpu)
            running[cpu] = (ns, after)
        elif what == "irq_handler_entry":
            item = re.match(r"irq=(\d+) name=(.*)", rest)
            handler[cpu] = Slice(item[2], ns, None, cpu, {"irq": int(item[1])})
        elif what == "irqbed_hardirq" and cpu in handler:
            item = _numbers(rest)
            handler[cpu].args.update(dev=item["dev"], vector=item["q"], done=item["done"])
        elif what == "irq_handler_exit" and cpu in handler:
            done = handler.pop(cpu)
            done.end_ns = ns
            done.args["ret"] = rest.rpartition("=")[2]
            guest.handlers.append(done)
        elif what == "softirq_entry":
            softirq[cpu] = Slice("softirq " + rest.rpartition("=")[2].rstrip("]"), ns, None, cpu)
        elif what == "softirq_exit" and cpu in softirq:
            done = softirq.pop(cpu)
            done.end_ns = ns
            guest.softirqs.append(done)
        first.add(cpu)
    for cpu, (begin, name) in sorted(running.items()):
        _task(guest, name, begin, guest.end_ns, cpu)


def _task(guest, name, begin, end, cpu):
    if not name.startswith(("swapper/", "<idle>")):
        guest.tasks.append(Slice(name, begin, end, cpu))
