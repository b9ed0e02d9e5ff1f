# SPDX-License-Identifier: GPL-2.0-or-later
"""What Perfetto's importer of Chrome's JSON format takes without a warning; more is wrong here.

check(object) gives a list of what is wrong, empty for a good trace.  Times are looked at as the
importer does: multiplied by 1000, the rest cut off.
"""

import math
import re

PHASES = {"M": (), "X": ("dur",), "b": ("cat", "id"), "e": ("cat", "id"), "i": ("s",), "s": ("cat", "id"),
          "f": ("cat", "id", "bp")}
NAMES = ("process_name", "thread_name", "process_sort_index", "thread_sort_index")


def ns(us):
    return int(us * 1000.0)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def check(trace):
    """What is wrong, in words."""
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list):
        return ["there is no list traceEvents"]
    bad = []
    for number, event in enumerate(trace["traceEvents"]):
        bad += [f"event {number}: {what}" for what in fields(event)]
    if bad:
        return bad
    events = [event for event in trace["traceEvents"] if event["ph"] != "M"]
    bad += [f"{two['name']}: is out of order" for one, two in zip(events, events[1:]) if two["ts"] < one["ts"]]
    return bad + tracks(trace["traceEvents"]) + nesting(events) + pairs(events) + flows(events)


def fields(event):
    """Each event has what its phase needs, of the right type."""
    ph = event.get("ph") if isinstance(event, dict) else None
    if ph not in PHASES:
        return [f"phase {ph!r}"]
    bad = [f"{ph} without {key}" for key in ("pid", "tid", "name", *PHASES[ph]) if key not in event]
    if bad:
        return bad
    bad += [f"{key} is no whole number" for key in ("pid", "tid")
            if not isinstance(event[key], int) or isinstance(event[key], bool) or event[key] < 0]
    if not isinstance(event["name"], str) or not event["name"]:
        bad.append("name is no text")
    if "args" in event and not isinstance(event["args"], dict):
        bad.append("args is no object")
    if ph == "M":
        return bad + ([] if event["name"] in NAMES and event.get("args") else [f"metadata {event['name']}"])
    if not is_number(event.get("ts")) or event["ts"] < 0:
        bad.append(f"ts is {event.get('ts')}")
    if ph == "X" and (not is_number(event["dur"]) or event["dur"] < 0):
        bad.append(f"dur is {event['dur']}")
    if "id" in PHASES[ph] and (not isinstance(event["cat"], str) or not event["cat"] or not isinstance(event["id"], str)
                               or not re.fullmatch(r"0x[0-9a-f]{1,16}", event["id"])):
        bad.append(f"cat or id: {event['cat']!r}, {event['id']!r}")
    if ph == "i" and event["s"] not in ("g", "p", "t"):
        bad.append(f"scope {event['s']!r}")
    if ph == "f" and event["bp"] != "e":
        bad.append(f"bp {event['bp']!r}")
    return bad


def tracks(events):
    """Every process and every thread with slices has one name."""
    named = [(event["name"], event["pid"], event["tid"] if event["name"].startswith("thread") else None)
             for event in events if event["ph"] == "M"]
    bad = [f"{what} is there twice" for what in set(named) if named.count(what) > 1]
    owner = {}
    for event in events:        # the importer names threads by tid alone, and takes 0 for the idle one
        if owner.setdefault(event["tid"], event["pid"]) != event["pid"] or not event["tid"] or not event["pid"]:
            bad.append(f"{event['name']}: thread {event['tid']} is of process {owner[event['tid']]}, not {event['pid']}")
    for event in events:
        if event["ph"] != "M" and ("process_name", event["pid"], None) not in named:
            bad.append(f"{event['name']}: process {event['pid']} has no name")
        if event["ph"] == "X" and ("thread_name", event["pid"], event["tid"]) not in named:
            bad.append(f"{event['name']}: thread {event['pid']}/{event['tid']} has no name")
    return bad


def slices(events):
    """{(pid, tid): [(begin ns, end ns, event)]} of the complete slices."""
    out = {}
    for event in events:
        if event["ph"] == "X":
            out.setdefault((event["pid"], event["tid"]), []).append(
                (ns(event["ts"]), ns(event["ts"]) + ns(event["dur"]), event))
    return out


def nesting(events):
    """Slices of a thread lie within each other or apart."""
    bad = []
    for (pid, tid), found in slices(events).items():
        stack = []
        for begin, end, event in found:
            while stack and stack[-1] <= begin:
                stack.pop()
            if stack and end > stack[-1]:
                bad.append(f"{event['name']}: on {pid}/{tid} from {begin} to {end}: ends after what it is in, {stack[-1]}")
            stack.append(end)
    return bad


def pairs(events):
    """Asynchronous begins and ends match, and nest."""
    bad, there = [], {}
    for event in events:
        key = event["pid"], event.get("cat"), event.get("id")
        if event["ph"] == "b":
            there.setdefault(key, []).append(event["name"])
        elif event["ph"] == "e":
            begun = there.get(key) or [None]
            if begun[-1] != event["name"]:
                bad.append(f"{event['name']}: ends {event['id']}, in which {begun[-1]} is open")
            elif begun:
                begun.pop()
    return bad + [f"{name}: {key[2]} has no end" for key, names in there.items() for name in names]


def flows(events):
    """Each arrow has one beginning and one end, both within slices."""
    bad, found = [], slices(events)
    ends = {"s": {}, "f": {}}
    for event in events:
        if event["ph"] not in ends:
            continue
        key = event["cat"], event["id"]
        if key in ends[event["ph"]]:
            bad.append(f"flow {key[1]}: there twice")
        ends[event["ph"]][key] = ns(event["ts"])
        if not any(begin <= ns(event["ts"]) < end for begin, end, _ in found.get((event["pid"], event["tid"]), [])):
            bad.append(f"flow {key[1]}: its {event['ph']} is in no slice")
    bad += [f"flow {key[1]}: has one end only" for key in set(ends["s"]) ^ set(ends["f"])]
    return bad + [f"flow {key[1]}: ends before it begins" for key in set(ends["s"]) & set(ends["f"])
                  if ends["f"][key] < ends["s"][key]]


def requests(trace, cat):
    """Requests of one side: [(begin ns, end ns, args, stages)], a stage (name, begin ns, end ns)."""
    open_, out = {}, []
    for event in trace["traceEvents"]:
        if event["ph"] not in "be" or event.get("cat") != cat:
            continue
        key, now = (event["pid"], event["id"]), ns(event["ts"])
        if event["ph"] == "b" and key not in open_:
            open_[key] = [event["name"], now, event["args"], [], None]
        elif event["ph"] == "b":
            open_[key][4] = event["name"], now
        elif open_[key][4]:
            name, begin = open_[key][4]
            open_[key][3].append((name, begin, now))
            open_[key][4] = None
        else:
            _, begin, args, stages, _ = open_.pop(key)
            out.append((begin, now, args, stages))
    return out
