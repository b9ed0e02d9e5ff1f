# SPDX-License-Identifier: GPL-2.0-or-later
"""A timeline as a Chrome trace (JSON), which Perfetto and chrome://tracing open.

docs/timeline.md says what is on it.  All times are virtual, in the file in us
after the reset of the devices' statistics.

Of each request there is one asynchronous slice for each side, and within it
one for each stage, so that they nest; vCPUs, vectors and passes are threads,
whose slices nest too.  Readers know a thread by its number alone: it is one of
a kind over all processes.
"""

import itertools
import json
import math
from dataclasses import dataclass, field

from . import ftrace, results

CPUS_PID, INJECT_PID, FIRST_DEVICE_PID = 1, 2, 10
# First track of a device's vectors; tracks of a driver's vector; of them for each CPU those that poll.
VECTOR_TRACKS, PASS_TRACKS, POLL_TRACK = 100, 100, 10
PASS_TIDS = {kind: number for number, kind in enumerate(ftrace.PASSES)}
OPERATIONS = {0: "read", 1: "write", 2: "flush", 3: "discard", 34: "drv-in", 35: "drv-out"}


def microseconds(ns):
    """The number for NS in a trace: a reader that multiplies it by 1000 and cuts the rest off has NS again."""
    us = ns / 1000
    return us if int(us * 1000.0) == ns else math.nextafter(us, math.inf)


def tid(pid, track):
    """The number of a thread; of a process' main one without a track."""
    return pid if track is None else pid * 10_000 + track


@dataclass
class Trace:
    """Events in the order in which they were added; text() sorts them by time."""

    zero_ns: int
    events: list = field(default_factory=list)
    names: list = field(default_factory=list)
    ids: object = field(default_factory=lambda: itertools.count(1))

    def us(self, ns):
        return microseconds(ns - self.zero_ns)

    def process(self, pid, name):
        self.name("process_name", pid, None, name=name)
        self.name("process_sort_index", pid, None, sort_index=pid)

    def thread(self, pid, track, name):
        self.name("thread_name", pid, track, name=name)

    def name(self, what, pid, track, **args):
        self.names.append({"ph": "M", "name": what, "pid": pid, "tid": tid(pid, track), "args": args})

    def add(self, ph, ns, pid, track, name, **more):
        """Something of a process (TRACK is None) or one of its threads."""
        self.events.append({"ph": ph, "ts": self.us(ns), "pid": pid, "tid": tid(pid, track), "name": name, **more})

    def slice(self, pid, track, name, begin_ns, end_ns, args):
        self.add("X", begin_ns, pid, track, name, dur=microseconds(end_ns - begin_ns), args=args)

    def request(self, pid, cat, name, stages, args):
        """An asynchronous slice and its stages [(name, begin, end)], one after the other."""
        mark = {"cat": cat, "id": f"0x{next(self.ids):x}"}
        self.add("b", stages[0][1], pid, None, name, args=args, **mark)
        for stage, begin, end in stages:
            self.add("b", begin, pid, None, stage, **mark)
            self.add("e", end, pid, None, stage, **mark)
        self.add("e", stages[-1][2], pid, None, name, **mark)

    def flow(self, begin, end):
        """An arrow between two slices; each (ns, pid, track)."""
        mark = {"cat": "interrupt", "id": f"0x{next(self.ids):x}"}
        self.add("s", *begin, "interrupt", **mark)
        self.add("f", *end, "interrupt", bp="e", **mark)

    def object(self, other):
        # Of what begins at the same time the longer comes first: it holds the shorter.
        events = sorted(self.events, key=lambda event: (event["ts"], -event.get("dur", 0)
                                                        if event["ph"] == "X" else 0))
        return {"displayTimeUnit": "ns", "otherData": other, "traceEvents": self.names + events}


# --- the device's side ------------------------------------------------------------

@dataclass
class InDevice:
    """A request in a device: (ns) of what was seen of it."""

    queue: int
    tag: int
    seq: int
    fetch_ns: int
    start_ns: int = None
    due_ns: int = None
    end_ns: int = None
    how: str = ""


def in_device(events, last_ns):
    """(requests, interrupts [(ns, vector, queue, tag, seq)]) of a device's record."""
    requests, irqs = {}, []
    for mark, ns, queue, tag, seq, detail, start, due in events:
        if mark == "irq":
            irqs.append((ns, detail, queue, tag, seq))
        elif mark == "fetch":
            requests[seq] = InDevice(queue, tag, seq, ns)
        elif seq in requests:
            request = requests[seq]
            if mark == "schedule":
                request.start_ns, request.due_ns = start, due
            elif mark == "hold":
                request.how = "held"
            else:
                request.end_ns = ns
                request.how = {"complete": "failed" if detail else "ok"}.get(mark, "aborted")
    for request in requests.values():
        if request.end_ns is None:
            request.end_ns, request.how = last_ns, request.how or "unfinished"
    return list(requests.values()), irqs


def device_stages(request):
    """The stages of a request in the device, within its time."""
    points = [("queued", request.fetch_ns)]
    if request.start_ns is not None:
        points += [("service", request.start_ns), ("answer", request.due_ns)]
    return stages(points, request.end_ns)


def stages(points, end_ns):
    """[(name, begin, end)] from [(name, begin)], those without a length left out but one."""
    out = []
    for (name, begin), (_, following) in zip(points, [*points[1:], ("", end_ns)]):
        begin, following = min(begin, end_ns), min(max(following, begin), end_ns)
        if following > begin:
            out.append((name, begin, following))
    return out or [(points[0][0], points[0][1], max(end_ns, points[0][1]))]


# --- both sides --------------------------------------------------------------------

class Builder:
    """Puts the recorded things of one cell into a Trace."""

    def __init__(self, recorder, entry, guest, records):
        self.recorder, self.entry, self.guest = recorder, entry, guest
        self.ids = list(recorder.addresses.values())
        self.records = records
        zero_ns = min(record["reset_ns"] for record in records.values())
        self.trace = Trace(zero_ns)
        self.last_ns = self.last_time()
        self.devices = {name: in_device(record["events"], self.last_ns) for name, record in records.items()}
        self.requests = self.chosen()
        self.begin_ns, self.end_ns = self.period()

    def last_time(self):
        """Until when everybody has recorded."""
        ends = [self.guest.end_ns]
        for record in self.records.values():
            if record["lost"]:
                ends.append(record["events"][-1][1])
        return min(ends)

    def name_of(self, address):
        return self.recorder.addresses.get(address, address)

    def chosen(self):
        """The driver's requests that are in the window."""
        window, out, count = self.recorder.window, [], {}
        begin = self.trace.zero_ns + window.from_us * 1000
        # By number: vCPUs take turns, so the later of two may have the earlier time.
        for request in sorted(self.guest.requests, key=lambda request: request.seq):
            request.end_ns = min(request.end_ns, self.last_ns)
            if request.begin_ns >= self.last_ns:
                continue
            if window.for_us:
                good = begin <= request.begin_ns < begin + window.for_us * 1000
            else:
                key = request.dev, request.queue
                count[key] = count.get(key, 0) + 1
                good = count[key] <= window.requests
            if good:
                out.append(request)
        return sorted(out, key=lambda request: request.begin_ns)

    def period(self):
        """From when to when the vCPUs' and vectors' slices are shown."""
        window = self.recorder.window
        ends = [request.end_ns for request in self.requests]
        if window.for_us:
            begin = max(self.trace.zero_ns + window.from_us * 1000, self.guest.begin_ns)
            ends.append(min(begin + window.for_us * 1000, self.last_ns))
        elif self.requests:
            begin = min(request.begin_ns for request in self.requests)
        else:       # the stock driver: what the devices have
            fetched = [request for requests, _ in self.devices.values()
                       for request in requests[:window.requests]]
            begin = min((request.fetch_ns for request in fetched), default=self.guest.begin_ns)
            ends += [request.end_ns for request in fetched]
        return begin, max([begin, *ends])

    def build(self):
        self.cpus()
        self.injections()
        for number, name in enumerate(self.ids):
            pid = FIRST_DEVICE_PID + 10 * number
            self.device(pid, name)
            self.driver(pid + 1, name)
        window = self.recorder.window
        return self.trace.object({
            "cell": self.entry["id"], "cell_status": self.entry["status"], "clock": "virtual",
            "zero": "reset of the statistics",
            "window": {"from_us": window.from_us, "for_us": window.for_us} if window.for_us
            else {"first": window.first, "requests": window.requests},
            "shown_us": [self.trace.us(self.begin_ns), self.trace.us(self.end_ns)],
            "submitted": {name: stats["submitted"] for name, stats in self.entry["driver"].items()},
            "lost": {name: record["lost"] for name, record in self.records.items()}})

    def clipped(self, slices):
        """Those within the period, cut to it."""
        for item in slices:
            begin, end = max(item.begin_ns, self.begin_ns), min(item.end_ns, self.end_ns)
            if begin < end:
                yield item, begin, end

    def cpus(self):
        trace = self.trace
        trace.process(CPUS_PID, "vCPUs")
        for cpu in range(self.recorder.cell.config["machine"]["cpus"]):
            trace.thread(CPUS_PID, cpu, f"vCPU {cpu}")
        for items, kind in ((self.guest.tasks, "task"), (self.guest.softirqs, "softirq"),
                            (self.guest.handlers, "hard handler")):
            for item, begin, end in self.clipped(items):
                args = {**item.args, "kind": kind}
                if "dev" in args:
                    args["dev"] = self.name_of(args["dev"])
                trace.slice(CPUS_PID, item.cpu, item.name, begin, end, args)

    def injections(self):
        fired = [(self.records[name]["reset_ns"] + ns, number, name, inject["id"])
                 for number, name in enumerate(self.ids) for inject in self.entry["device"][name].get("inject", [])
                 for ns in inject.get("fired_ns", [])]
        shown = [item for item in sorted(fired) if self.begin_ns <= item[0] <= self.end_ns]
        if shown:
            self.trace.process(INJECT_PID, "injections")
        for number in sorted({item[1] for item in shown}):
            self.trace.thread(INJECT_PID, number, self.ids[number])
        for ns, number, name, what in shown:
            self.trace.add("i", ns, INJECT_PID, number, what, s="t", args={"dev": name})

    def device(self, pid, name):
        """Requests between fetch and answer, and the interrupts that were sent."""
        trace = self.trace
        requests, irqs = self.devices[name]
        trace.process(pid, f"{name}: device")
        for request in requests:
            if self.begin_ns <= request.fetch_ns < self.end_ns:
                request.end_ns = min(request.end_ns, self.end_ns)
                trace.request(pid, "device", f"queue {request.queue}", device_stages(request), {
                    "queue": request.queue, "tag": request.tag, "seq": request.seq, "result": request.how})
        handlers = [item for item in self.guest.handlers if self.name_of(item.args.get("dev")) == name]
        shared = len({item.args["vector"] for item in handlers}) == 1
        for vector in sorted({irq[1] for irq in irqs}):
            self.vector(pid, vector, [irq for irq in irqs if irq[1] == vector],
                        [item for item in handlers if shared or item.args["vector"] == vector])

    def vector(self, pid, vector, irqs, handlers):
        """Its interrupts, each until its handler begins (or the next one is sent), with an arrow to it."""
        trace, track = self.trace, VECTOR_TRACKS + vector
        trace.thread(pid, track, f"interrupt, vector {vector}")
        for irq, following in zip(irqs, [*irqs[1:], None]):
            ns = irq[0]
            if not self.begin_ns <= ns < self.end_ns:
                continue
            handler = next((item for item in handlers if item.begin_ns >= ns), None)
            ends = [self.end_ns, *([handler.begin_ns] if handler else []), *([following[0]] if following else [])]
            trace.slice(pid, track, "interrupt", ns, min(ends), {
                "vector": vector, "queue": irq[2], "tag": irq[3], "seq": irq[4]})
            if handler and handler.begin_ns < self.end_ns and min(ends) > ns:
                trace.flow((ns, pid, track), (handler.begin_ns, CPUS_PID, handler.cpu))

    def driver(self, pid, name):
        """Requests between doorbell and end, and the passes of the handlers and those they hand over to."""
        trace = self.trace
        mine = [request for request in self.requests if self.name_of(request.dev) == name]
        passes = [item for item in self.guest.passes if self.name_of(item.args["dev"]) == name]
        if not mine and not passes:
            return
        trace.process(pid, f"{name}: driver")
        for request in mine:
            self.driver_request(pid, name, request)
        tracks = {}
        for item, begin, end in self.clipped(passes):
            track = PASS_TRACKS * item.args["vector"] + PASS_TIDS[item.name]
            title = f"{item.name}, vector {item.args['vector']}"
            if item.name == "polled":
                track, title = track + POLL_TRACK + item.cpu, f"{title}, vCPU {item.cpu}"
            tracks[track] = title
            trace.slice(pid, track, item.name, begin, end, {**item.args, "dev": name, "cpu": item.cpu})
        for ns, dev, vector, reason in self.guest.handovers:
            if self.name_of(dev) == name and self.begin_ns <= ns < self.end_ns:
                track = PASS_TRACKS * vector + PASS_TIDS["hardirq"]
                tracks.setdefault(track, f"hardirq, vector {vector}")
                trace.add("i", ns, pid, track, "hand-over", s="t", args={"reason": reason})
        for track, title in sorted(tracks.items()):
            trace.thread(pid, track, title)

    def driver_request(self, pid, name, request):
        requests, irqs = self.devices[name]
        there = next((item for item in requests if item.queue == request.queue and item.tag == request.tag
                      and request.begin_ns <= item.fetch_ns <= request.end_ns), None)
        points = [("submit", request.begin_ns)]
        args = {**request.args, "queue": request.queue, "tag": request.tag, "seq": request.seq,
                "op": OPERATIONS.get(request.args["op"], request.args["op"])}
        if there:
            args["device_seq"] = there.seq
            points += [("device", there.fetch_ns), ("interrupt", there.end_ns)]
            own = len({irq[1] for irq in irqs}) > 1         # a vector for each queue
            sent = next((irq[0] for irq in irqs if irq[0] >= there.end_ns and (not own or irq[2] == there.queue)),
                        self.end_ns)
            if sent <= request.end_ns:
                points.append(("completion", sent))
        if request.ended is None:
            args["unfinished"] = True
        else:
            args.update({"end_" + key: value for key, value in request.ended.items()})
        self.trace.request(pid, "driver", args["op"], stages(points, request.end_ns), args)


def build(recorder, entry, guest, records):
    """The object of the file."""
    return Builder(recorder, entry, guest, records).build()


def save(path, trace):
    """FILE, whole or not at all."""
    events = ",\n".join(json.dumps(event, sort_keys=True) for event in trace["traceEvents"])
    head = json.dumps({key: value for key, value in trace.items() if key != "traceEvents"}, sort_keys=True)
    results.replace(path, f'{head[:-1]}, "traceEvents": [\n{events}\n]}}\n')
