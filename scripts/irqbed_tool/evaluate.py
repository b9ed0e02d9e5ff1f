# SPDX-License-Identifier: GPL-2.0-or-later
"""From the guest's answers to a cell's entry in results.json.

A cell passes only when every step was answered, up to its end mark, and
nothing spoke against it.  Whatever did is in "reasons"; the gravest one gives
the status.
"""

import errno
import json
import re

from . import fio_options, inject, metrics
from .matrix import word
from .vm import PROBE_ID

# Gravest first.  Those of a VM that ended early come from vm.STATUSES.
STATUSES = ("panic", "hang", "died", "no-init", "agent-died", "qemu-error", "interrupted",
            "not-run", "failed", "timeout", "lost", "warning", "errors", "not-fired", "pass")
MAX_STRAY_LINES = 50

# What the kernel says when it, not the device, is in trouble.
KERNEL_TROUBLE = re.compile(
    r"\bBUG\b|WARNING:|\bOops\b|lockup|nobody cared|Kernel panic|general protection fault"
    r"|blocked for more than|detected stall|self-detected stall|rcu_\w+ kthread starved|KASAN:"
    r"|UBSAN:|KFENCE:|possible (circular|recursive|irq lock)|unable to handle|Call Trace"
    r"|Disabling IRQ|clocksource: .*unstable|Marking clocksource")


class Verdict:
    """Reasons against a cell, and the status that they make."""

    def __init__(self):
        self.found = []

    def add(self, status, reason):
        self.found.append((STATUSES.index(status), reason))

    def status(self):
        return STATUSES[min((rank for rank, _ in self.found), default=STATUSES.index("pass"))]

    def reasons(self):
        return [reason for _, reason in sorted(self.found, key=lambda item: item[0])]


def kernel_trouble(lines):
    """Those of the dmesg lines [[level, text], ...] that mean trouble."""
    return [text for _level, text in lines if KERNEL_TROUBLE.search(text)]


def boot_trouble(answers):
    """Why the cells of a boot cannot start, or "": a step before them failed."""
    for answer in answers:
        if answer.get("cell"):
            break
        if answer["type"] == "exec" and answer["name"] != "warmup":
            if answer["timed_out"]:
                return f"{answer['name']}: did not end in time"
            if answer["rc"]:
                said = (answer["err"].strip() or answer["out"].strip()).splitlines()
                return f"{answer['name']}: {said[-1] if said else 'exit status ' + str(answer['rc'])}"
        if answer["type"] == "error":
            return f"the agent does not know the step {answer['what']}"
        if answer["type"] == "dmesg":
            trouble = kernel_trouble(answer["lines"])
            if trouble:
                return f"kernel: {trouble[0]}"
    return ""


def evaluate(cell, answers):
    """The entry of a cell whose steps were all answered."""
    verdict = Verdict()
    entry = {"id": cell.id, "params": cell.params}
    runs = []
    device, driver, guest, settled, reset_ns = {}, {}, {}, {}, 0
    for answer, following in zip(answers, [*answers[1:], None]):
        kind = answer["type"]
        if kind == "write":
            _check_write(answer, verdict)
        elif kind == "exec" and answer["name"].startswith("fio"):
            runs.append(_fio_run(answer, cell, entry, verdict))
        elif kind == "exec" and answer["name"].startswith("dd"):
            runs.append(_dd_run(answer, following["t_ns"], cell, verdict))
        elif kind == "exec" and (answer["rc"] or answer["timed_out"]):
            verdict.add("failed", f"{answer['name']}: exit status {answer['rc']}")
        elif kind == "exec" and answer["name"] == "settle":
            settled = {"tags_reserved_ms": int(answer["out"])}
        elif kind == "read":
            _read(answer, cell, entry, driver, guest, verdict)
        elif kind == "stats" and answer["name"] == "before":
            reset_ns = answer["t_ns"]
        elif kind == "stats" and answer["name"] == "device":
            device = dict(answer["devices"])
        elif kind == "dmesg":
            _check_dmesg(answer, entry, verdict)
        elif kind == "error":
            verdict.add("failed", f"the agent does not know the step {answer['what']}")
    probe = device.pop(PROBE_ID, None)
    if probe:
        entry["probe"] = probe
        check_probe(probe, cell.config["probe"]["cpu"], verdict)
    check_conservation(device, driver, verdict)
    inject.check_fired(cell.config, device, verdict)
    series = {side: found for side, stats in (("device", device), ("driver", driver))
              if (found := take_series(stats, reset_ns))}
    if series:
        entry["series"] = series
    good = [run for run in runs if run]
    load_ns = sum(run.get("runtime_ms", 0) for run in good) * 1e6
    of_cell = {**metrics.from_device(device), **metrics.from_driver(driver, load_ns),
               **metrics.from_contexts(driver, load_ns), **metrics.from_probe(probe),
               **metrics.from_injections(device, driver),
               **metrics.from_guest(guest.get("before", ""), guest.get("after", ""),
                                    sum(run.get("ios", 0) for run in good)), **settled}
    entry["metrics"] = metrics.mean([{**run, **of_cell} for run in good]) if good else {}
    if len(good) > 1:
        entry["runs"] = [metrics.mean([run]) for run in good]
    entry.update(device=device, driver=driver, status=verdict.status())
    if verdict.found:
        entry["reasons"] = verdict.reasons()
    return entry


def _check_write(answer, verdict):
    if answer["errno"]:
        name = errno.errorcode.get(answer["errno"], str(answer["errno"]))
        verdict.add("failed", f"{answer['path']}: write: {name}")


def _fio_run(answer, cell, entry, verdict):
    """Metrics of one fio run, or {} when there are none to be had."""
    name = answer["name"]
    output = metrics.recover(answer["out"])
    stray = [*output.stray, *filter(str.strip, answer["err"].splitlines())]
    if stray:
        entry.setdefault("stray", []).extend(stray[:MAX_STRAY_LINES])
        if len(stray) > MAX_STRAY_LINES:
            entry["stray"].append(f"... and {len(stray) - MAX_STRAY_LINES} more lines")
    if answer["timed_out"]:
        verdict.add("timeout", f"{name}: did not end in time")
    if output.data is None or not output.data.get("jobs"):
        if not answer["timed_out"]:
            status = "errors" if any(map(metrics.ERROR_TEXT.search, output.stray)) else "failed"
            verdict.add(status, f"{name}: no result: " + (stray[-1] if stray else "no output"))
        return {}
    found = metrics.from_fio(output.data)
    said = next(filter(metrics.ERROR_TEXT.search, output.stray), "")
    is_error = bool(found["io_errors"] or said)
    if metrics.has_wrong_data(output.data, stray):
        verdict.add("errors", f"{name}: data is not what was written")
    elif is_error and cell.config["check"]["io_errors"] != "allowed":
        verdict.add("errors", f"{name}: " + (f"{found['io_errors']} I/O errors" if found["io_errors"] else said))
    if answer["signal"] or (answer["rc"] and not is_error):
        what = f"signal {answer['signal']}" if answer["signal"] else f"exit status {answer['rc']}"
        verdict.add("failed", f"{name}: {what}" + (f": {stray[-1]}" if stray else ""))
    elif not found["ios"] and not verdict.found:
        verdict.add("failed", f"{name}: no I/O was done")
    return found


def _dd_run(answer, ended_ns, cell, verdict):
    """Metrics of one run of dd on each disk, or {} when not all got to the end."""
    name, workload = answer["name"], cell.config["workload"]
    size, block = (fio_options.size_bytes(workload[key]) for key in ("size", "bs"))
    done = sum(map(int, metrics.DD_END.findall(answer["err"])))
    if answer["timed_out"]:
        verdict.add("timeout", f"{name}: did not end in time")
    elif answer["rc"] or done * block != size * workload["disks"]:
        said = [line for line in answer["err"].splitlines() if metrics.DD_ERROR.search(line)]
        verdict.add("errors", f"{name}: " + (said[0] if said else f"{done * block} bytes were read, not "
                                             f"{size * workload['disks']}"))
    else:
        return metrics.from_dd(done * block, ended_ns - answer["t_ns"])
    return {}


def _read(answer, cell, entry, driver, guest, verdict):
    """A file of the guest: the driver's statistics, an effective knob, a disk's queue, /proc/stat."""
    what, name, *rest = answer["name"].split(".")
    if answer["errno"]:
        verdict.add("failed", f"{answer['name']}: cannot be read")
        return
    if what == "driver":
        try:
            driver[name] = json.loads(answer["text"])
        except ValueError:
            verdict.add("failed", f"{answer['name']}: not JSON")
    elif what == "guest":
        guest[name] = answer["text"]
    elif what == "queue":
        entry.setdefault("disks", {}).setdefault(name, {})[rest[0]] = answer["text"].strip()
    elif what == "knob":
        value = answer["text"].strip()
        wanted = word(cell.config["driver"][rest[0]])
        driver.setdefault(name, {}).setdefault("effective", {})[rest[0]] = value
        if value != wanted:
            verdict.add("failed", f"{name}: {rest[0]} is {value}, not {wanted}")


def _check_dmesg(answer, entry, verdict):
    serious = [text for level, text in answer["lines"] if level <= 3]
    if serious:
        entry["dmesg"] = serious[:MAX_STRAY_LINES]
    for text in kernel_trouble(answer["lines"])[:1]:
        verdict.add("warning", f"kernel: {text}")


def check_probe(probe, wanted, verdict):
    """The vCPU that was to be interrupted, and no other, has answered."""
    cpus = [str(cpu["cpu"]) for cpu in probe["cpus"]]
    if not cpus:
        verdict.add("failed", f"none of the probe's {probe['sent']} interrupts was answered")
    elif cpus != [str(wanted)]:
        verdict.add("failed", f"the probe was answered by vCPU {', '.join(cpus)}, not {wanted}")


def take_series(stats, reset_ns):
    """{controller: its time series}, taken out of its statistics; RESET_NS: when the devices' were reset."""
    found = {}
    for name, of_one in stats.items():
        series = of_one.pop("series", None)
        if series:
            done, window_ns = series["completions"], series["window_ns"]
            start_ns = series.pop("since_ns", reset_ns) - reset_ns
            found[name] = {**series, "start_ns": start_ns, "iops": [round(count * 1e9 / window_ns, 1) for count in done],
                           **{key: [value if count else None for value, count in zip(series[key], done)]
                              for key in ("mean_ns", "p99_ns")}}
    return found


def check_conservation(device, driver, verdict):
    """Nothing is dropped: what went in came out or is still there, on both sides."""
    for name, stats in device.items():
        req = stats["requests"]
        out = req["completed"] + req["failed"] + req["aborted"] + req["in_flight"]
        if req["fetched"] != out:
            verdict.add("lost", f"{name}: the device fetched {req['fetched']} requests, "
                        f"{out} are accounted for")
        if req["in_flight"]:
            verdict.add("lost", f"{name}: {req['in_flight']} requests still in the device")
    for name, stats in driver.items():
        if "submitted" not in stats:
            continue
        out = stats["completed"] + stats["failed"] + stats["in_flight"]
        if stats["submitted"] != out:
            verdict.add("lost", f"{name}: the driver submitted {stats['submitted']} requests, "
                        f"{out} are accounted for")


def unfinished(cell, status, reason, console_tail=()):
    """The entry of a cell that has no end mark: it never passes."""
    entry = {"id": cell.id, "params": cell.params, "status": status, "reasons": [reason],
             "metrics": {}, "device": {}, "driver": {}}
    if console_tail:
        entry["console_tail"] = list(console_tail)
    return entry


def expected_steps(answers):
    """Whether the answers of a cell are complete: they end with its end mark."""
    return bool(answers) and answers[-1]["type"] == "end"


