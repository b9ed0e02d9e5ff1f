# SPDX-License-Identifier: GPL-2.0-or-later
"""From the output of fio and dd to the metrics of a cell.

fio mixes error text into its JSON exactly when I/O errors occur; recover()
takes the object out of such output and keeps the stray lines beside it.
"""

import errno
import functools
import json
import re
from dataclasses import dataclass, field

MIB = 2 ** 20
DIRECTIONS = ("read", "write", "trim")
# The names of fio's jobs that run beside the load begin so.
BESIDE = "beside-"
# Which of the driver's contexts a CPU's time is counted under.
CPU_METRICS = {"irq_cpu": ("hard",), "softirq_cpu": ("softirq", "block"), "thread_cpu": ("thread", "work"),
               "polled_cpu": ("polled",)}
MIXED = "mixed"


@dataclass(frozen=True)
class Metric:
    """How a metric is shown and compared.

    better: +1 more is better, -1 less is better.  threshold: the change in
    percent from which compare speaks of a regression; 0 means shown only.
    """

    title: str
    better: int
    threshold: float
    scale: float = 1.0
    unit: str = ""


METRICS = {
    "iops": Metric("IOPS", 1, 2),
    "iops_min": Metric("min IOPS", 1, 0),
    "iops_max": Metric("max IOPS", 1, 0),
    "iops_avg": Metric("avg IOPS", 1, 2),
    "iops_stddev": Metric("IOPS std dev", -1, 0),
    "bw_bytes_per_s": Metric("bw MiB/s", 1, 2, 1 / MIB, "MiB/s"),
    "cpu_usr_pct": Metric("cpu % usr", -1, 0, unit="%"),
    "cpu_sys_pct": Metric("cpu % sys", -1, 10, unit="%"),
    "clat_mean_ns": Metric("clat mean us", -1, 2, 1e-3, "us"),
    "clat_max_ns": Metric("clat max us", -1, 0, 1e-3, "us"),
    "clat_p50_ns": Metric("clat p50 us", -1, 4, 1e-3, "us"),
    "clat_p90_ns": Metric("clat p90 us", -1, 4, 1e-3, "us"),
    "clat_p99_ns": Metric("clat p99 us", -1, 8, 1e-3, "us"),
    "clat_p999_ns": Metric("clat p99.9 us", -1, 20, 1e-3, "us"),
    "slat_mean_ns": Metric("slat mean us", -1, 10, 1e-3, "us"),
    "lat_mean_ns": Metric("lat mean us", -1, 2, 1e-3, "us"),
    "context_switches": Metric("context switches", -1, 0),
    "ios": Metric("I/Os", 1, 0),
    "io_errors": Metric("I/O errors", -1, 0),
    "runtime_ms": Metric("runtime ms", -1, 0),
    "device_mean_ns": Metric("in device us", -1, 2, 1e-3, "us"),
    "irqs_per_io": Metric("interrupts per I/O", -1, 5),
    "irq_cpu_pct": Metric("hard interrupt % of a CPU", -1, 10, unit="%"),
    "thread_cpu_pct": Metric("threads % of a CPU", -1, 10, unit="%"),
    "lock_hold_ns_mean": Metric("lock hold us", -1, 0, 1e-3, "us"),
    "lock_wait_ns_mean": Metric("lock wait us", -1, 0, 1e-3, "us"),
    "host_lock_hold_ns_mean": Metric("host lock hold us", -1, 0, 1e-3, "us"),
    "host_lock_wait_ns_mean": Metric("host lock wait us", -1, 0, 1e-3, "us"),
    "probe_p50_ns": Metric("probe p50 us", -1, 8, 1e-3, "us"),
    "probe_p99_ns": Metric("probe p99 us", -1, 15, 1e-3, "us"),
    "probe_p999_ns": Metric("probe p99.9 us", -1, 20, 1e-3, "us"),
    "probe_max_ns": Metric("probe max us", -1, 0, 1e-3, "us"),
    "probe_missed": Metric("probe missed", -1, 0),
    "irqs": Metric("interrupts", -1, 0),
    "irqs_none": Metric("interrupts for nothing", -1, 0),
    "completions_per_irq": Metric("completions per interrupt", 1, 0),
    "handovers_policy": Metric("hand-overs, policy", -1, 0),
    "handovers_time": Metric("hand-overs, time", -1, 0),
    "handovers_count": Metric("hand-overs, count", -1, 0),
    "handovers_flood": Metric("hand-overs, flood", -1, 0),
    "poll_rearms": Metric("re-arms", -1, 0),
    "poll_pauses": Metric("poll pauses", -1, 0),
    "completions_per_poll": Metric("completions per poll round", 1, 0),
    "ended_hardirq_pct": Metric("ended in hardirq %", 1, 0, unit="%"),
    "ended_softirq_pct": Metric("ended in softirq %", 1, 0, unit="%"),
    "redirected_pct": Metric("ended on another CPU %", -1, 0, unit="%"),
    "polls": Metric("polls", -1, 0),
    "ended_polled_pct": Metric("ended by who polls %", 1, 0, unit="%"),
    "polled_cpu_pct": Metric("polling % of a CPU", -1, 10, unit="%"),
    "irq_cpu_most_pct": Metric("hard interrupt %, busiest CPU", -1, 0, unit="%"),
    "softirq_cpu_most_pct": Metric("softirq %, busiest CPU", -1, 0, unit="%"),
    "thread_cpu_most_pct": Metric("threads %, busiest CPU", -1, 0, unit="%"),
    "softirq_cpu_pct": Metric("softirq % of a CPU", -1, 10, unit="%"),
    "guest_switches": Metric("context switches, guest", -1, 0),
    "switches_per_io": Metric("context switches per I/O", -1, 5),
    "handler_thread_pct": Metric("handler in a thread %", -1, 0, unit="%"),
    "handover_wait_max_ns": Metric("longest hand-over us", -1, 0, 1e-3, "us"),
    "tags_reserved_ms": Metric("tags reserved ms", -1, 0),
    "injections": Metric("injections", -1, 0),
    "recovered": Metric("recovered by looking", -1, 0),
    "recovered_per_injection": Metric("recovered by looking, per injection", -1, 0),
    "beside_iops": Metric("IOPS beside", 1, 2),
    "beside_iops_least": Metric("IOPS beside, least", 1, 0),
    "beside_iops_most": Metric("IOPS beside, most", 1, 0),
    "beside_clat_mean_ns": Metric("clat mean us beside", -1, 2, 1e-3, "us"),
    "beside_clat_p99_ns": Metric("clat p99 us beside", -1, 8, 1e-3, "us"),
    "beside_clat_max_ns": Metric("clat max us beside", -1, 0, 1e-3, "us"),
}

_PERCENTILES = {"clat_p50_ns": "50.000000", "clat_p90_ns": "90.000000",
                "clat_p99_ns": "99.000000", "clat_p999_ns": "99.900000"}

# A whole line of fio's JSON: optional key, then a value or a bracket.
_JSON_LINE = re.compile(
    r'\s*(?:"(?:[^"\\]|\\.)*"\s*:\s*)?'
    r'(?:[\[{][\]}]?|"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[\]}])?\s*,?\s*')
# A whole line up to where something else starts.
_STRAY = re.compile(r"(fio: |verify: |note: |warning: )")
# A stray line that speaks of errors, as against fio's notes.
ERROR_TEXT = re.compile(r"^fio: |^verify: |\berr(or|=)", re.IGNORECASE)


# What dd says at its end, if all blocks were whole, and what it says when it fails.
DD_END = re.compile(r"^(\d+)\+0 records out$", re.MULTILINE)
DD_ERROR = re.compile(r"^dd: ")


@dataclass
class FioOutput:
    """fio's object (None when it cannot be had), and what else was printed."""

    data: object
    stray: list = field(default_factory=list)


def recover(text):
    """FioOutput from what fio wrote to its standard output."""
    try:
        return FioOutput(json.loads(text))
    except ValueError:
        pass
    kept, stray = [], []
    pending = ""
    for line in text.splitlines():
        line, pending = pending + line, ""
        match = _STRAY.search(line)
        if match:
            # The rest of the JSON line goes on after the message's line end.
            pending = line[:match.start()]
            stray.append(line[match.start():])
            if _JSON_LINE.fullmatch(pending) and pending.rstrip().endswith((",", "{", "[")):
                kept.append(pending)
                pending = ""
        elif _JSON_LINE.fullmatch(line):
            kept.append(line)
        elif line.strip():
            stray.append(line)
    return FioOutput(_object("\n".join(kept)), stray)


def _object(text):
    """The last complete object in TEXT that has fio's "jobs", else None."""
    decoder = json.JSONDecoder()
    for match in re.finditer(r"^\{", text, re.MULTILINE):
        try:
            data, _end = decoder.raw_decode(text, match.start())
        except ValueError:
            continue
        if isinstance(data, dict) and "jobs" in data:
            return data
    return None


def job_errors(data):
    """Number of I/O errors that fio counted, at least one if it gave an error code."""
    total = 0
    for job in data.get("jobs", []):
        count = job.get("total_err", 0)
        total += count if count else int(bool(job.get("error", 0)))
    return total


def has_wrong_data(data, stray):
    """Whether fio's verify found data that is not what was written."""
    return (any(job.get("error") == errno.EILSEQ for job in data.get("jobs", []))
            or any(line.startswith("verify: ") for line in stray))


def _blocks(job):
    """The direction blocks of a job with I/O in them; the merged one for mixed loads."""
    if job.get(MIXED, {}).get("total_ios"):
        return [job[MIXED]]
    return [job[name] for name in DIRECTIONS if job.get(name, {}).get("total_ios")]


def from_fio(data):
    """{metric: number} of one fio run with group_reporting; what runs beside has metrics of its own."""
    beside = [job for job in data["jobs"] if job.get("jobname", "").startswith(BESIDE)]
    jobs = [job for job in data["jobs"] if job not in beside]
    return {"io_errors": job_errors(data), **_from_jobs(jobs), **_from_beside(beside)}


def _from_beside(jobs):
    """Over all jobs of a [beside.NAME]: one group each."""
    groups = [_from_jobs([job]) for job in jobs]
    iops = [group["iops"] for group in groups if "iops" in group]
    if not iops:
        return {}
    out = {"beside_iops": sum(iops), "beside_iops_least": min(iops), "beside_iops_most": max(iops)}
    for metric in ("clat_p99_ns", "clat_max_ns"):
        if all(metric in group for group in groups):
            out[f"beside_{metric}"] = max(group[metric] for group in groups)
    if all("clat_mean_ns" in group for group in groups):
        out["beside_clat_mean_ns"] = (sum(group["clat_mean_ns"] * group["ios"] for group in groups)
                                      / sum(group["ios"] for group in groups))
    return out


def _from_jobs(jobs):
    out = {}
    if jobs:
        out["cpu_usr_pct"] = sum(job["usr_cpu"] for job in jobs) / len(jobs)
        out["cpu_sys_pct"] = sum(job["sys_cpu"] for job in jobs) / len(jobs)
        out["context_switches"] = sum(job["ctx"] for job in jobs)
    blocks = [block for job in jobs for block in _blocks(job)]
    out["ios"] = sum(block["total_ios"] for block in blocks)
    if not blocks:
        return out
    out["iops"] = sum(block["iops"] for block in blocks)
    out["bw_bytes_per_s"] = sum(block["bw_bytes"] for block in blocks)
    out["runtime_ms"] = max(block["runtime"] for block in blocks)
    if all(block["iops_samples"] for block in blocks):
        for metric, key in (("iops_min", "iops_min"), ("iops_max", "iops_max"),
                            ("iops_avg", "iops_mean"), ("iops_stddev", "iops_stddev")):
            out[metric] = sum(block[key] for block in blocks)
    out.update(_latencies(blocks))
    return out


def from_contexts(drivers, load_ns):
    """Metrics of who ended the requests, from the driver's statistics, for loads of LOAD_NS in all."""
    stats = [driver for driver in drivers.values() if "cpu_ns" in driver]
    if not stats:
        return {}

    def total(*path):
        return sum(functools.reduce(lambda node, key: node[key], path, one) for one in stats)

    out = {"irqs": total("irqs"), "irqs_none": total("irqs_none"), "polls": total("polls"),
           "poll_rearms": total("poll", "rounds"),
           "poll_pauses": total("poll", "pauses", "time") + total("poll", "pauses", "count")}
    for reason in ("policy", "time", "count", "flood"):
        out[f"handovers_{reason}"] = total("handovers", reason)
    done = total("completed") + total("failed")
    ended = {where: total("ended", where) for where in ("hardirq", "softirq", "process")}
    if out["irqs"]:
        out["completions_per_irq"] = done / out["irqs"]
    if out["poll_rearms"]:
        out["completions_per_poll"] = total("poll", "completions") / out["poll_rearms"]
    if any(ended.values()):
        out["ended_hardirq_pct"] = 100 * ended["hardirq"] / sum(ended.values())
        out["ended_softirq_pct"] = 100 * ended["softirq"] / sum(ended.values())
        out["ended_polled_pct"] = 100 * total("polled_completions") / sum(ended.values())
        out["redirected_pct"] = 100 * total("redirected") / sum(ended.values())
    ran = {where: total("hard_context", where) for where in ("hardirq", "thread")}
    if any(ran.values()):
        out["handler_thread_pct"] = 100 * ran["thread"] / sum(ran.values())
    out["handover_wait_max_ns"] = max(one["handover_wait_ns"]["max"] for one in stats)
    if load_ns:
        for metric, contexts in CPU_METRICS.items():
            # Of each vCPU, over all controllers.
            spent_ns = [sum(cpu) for cpu in zip(*(one["cpu_ns"][context] for one in stats for context in contexts))]
            out[f"{metric}_pct"] = 100 * sum(spent_ns) / load_ns
            if f"{metric}_most_pct" in METRICS:
                out[f"{metric}_most_pct"] = 100 * max(spent_ns) / load_ns
    return out


def from_guest(before, after, ios):
    """Metrics from the guest's /proc/stat before and after the load."""
    counts = [re.search(r"^ctxt (\d+)$", text, re.MULTILINE) for text in (before, after)]
    if not all(counts):
        return {}
    switches = int(counts[1].group(1)) - int(counts[0].group(1))
    return {"guest_switches": switches, **({"switches_per_io": switches / ios} if ios else {})}


def from_dd(size, elapsed_ns):
    """{metric: number} of several dd's at once that read SIZE bytes in all."""
    return {"runtime_ms": elapsed_ns / 1e6, "bw_bytes_per_s": size / (elapsed_ns / 1e9)}


def _latencies(blocks):
    out = {}
    for what in ("slat", "clat", "lat"):
        parts = [block[f"{what}_ns"] for block in blocks if block.get(f"{what}_ns", {}).get("N")]
        if parts:
            count = sum(part["N"] for part in parts)
            out[f"{what}_mean_ns"] = sum(part["mean"] * part["N"] for part in parts) / count
    clat = [block["clat_ns"] for block in blocks if block.get("clat_ns", {}).get("N")]
    if clat:
        out["clat_max_ns"] = max(part["max"] for part in clat)
    # A percentile of several blocks is not theirs combined: none is better than a wrong one.
    if len(clat) == 1:
        for metric, key in _PERCENTILES.items():
            if key in clat[0].get("percentile", {}):
                out[metric] = clat[0]["percentile"][key]
    return out


def from_device(devices):
    """Metrics that the controllers' own statistics give, over all of them."""
    out = {}
    done = sum(stats["requests"]["completed"] for stats in devices.values())
    in_device_ns = _hist_mean(stats["device_ns"] for stats in devices.values())
    if in_device_ns is not None:
        out["device_mean_ns"] = in_device_ns
    if done:
        out["irqs_per_io"] = sum(stats["irq"]["raised"] for stats in devices.values()) / done
    return out


def from_injections(devices, drivers):
    """Metrics of a cell with [[inject]]: what was done, and what a timeout found finished without an interrupt."""
    fired = [entry["fired"] for stats in devices.values() for entry in stats.get("inject", [])]
    if not fired:
        return {}
    out = {"injections": sum(fired)}
    recovered = [stats["recovered_without_irq"] for stats in drivers.values() if "recovered_without_irq" in stats]
    if recovered:
        out["recovered"] = sum(recovered)
        if sum(fired):
            out["recovered_per_injection"] = sum(recovered) / sum(fired)
    return out


def from_driver(drivers, load_ns):
    """Metrics that the driver's own statistics give, over all controllers, for loads of LOAD_NS in all."""
    out = {}
    for metric, key in (("irq_cpu_pct", "hard_ns"), ("thread_cpu_pct", "thread_ns")):
        hists = [stats[key] for stats in drivers.values() if key in stats]
        if hists and load_ns:
            out[metric] = 100 * sum(hist["sum"] for hist in hists) / load_ns
    locks = [item for stats in drivers.values() for item in stats.get("locks", {}).items()]
    for what in ("lock_hold_ns", "lock_wait_ns"):
        out[f"{what}_mean"] = _hist_mean(lock[what] for _, lock in locks)
        out[f"host_{what}_mean"] = _hist_mean(lock[what] for name, lock in locks if name == "host")
    return {name: value for name, value in out.items() if value is not None}


def _hist_mean(hists):
    """The mean of all values in HISTS, None when there are none."""
    hists = list(hists)
    count = sum(hist["count"] for hist in hists)
    return sum(hist["sum"] for hist in hists) / count if count else None


def from_probe(probe):
    """Metrics of the interrupt latency probe: how long its vCPU took to answer."""
    if not probe or not probe["cpus"]:
        return {}
    hist = probe["cpus"][0]["ack_ns"]
    return {"probe_missed": probe["missed"],
            **{f"probe_{name}_ns": hist[name] for name in ("p50", "p99", "p999", "max")}}


def tidy(number):
    """Six decimals, and no ".0" on a whole number: the same text on every host."""
    number = round(number, 6)
    return int(number) if number == int(number) else number


def mean(runs):
    """The metrics' averages over RUNS; a metric that some run lacks is left out."""
    names = [name for name in METRICS if all(name in run for run in runs)]
    return {name: tidy(sum(run[name] for run in runs) / len(runs)) for name in names}
