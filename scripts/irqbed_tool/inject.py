# SPDX-License-Identifier: GPL-2.0-or-later
"""[[inject]]: what a controller is told to do to itself while it runs.

docs/inject.md has the device's side.  An entry is a dict of the keys that its
table gives, "device" being a list of ids.  What is wrong with one is told
before anything boots, by the device's own rules.
"""

from . import knobs
from .keys import BadValue, did_you_mean, shown

MAX_ENTRIES = 32        # of one device
MAX_ID = 31
TRIGGERS = ("at_ns", "after", "every", "chance_ppm")
# Keys of the experiment's, not of the device's entry.
OWN = ("device", "enabled")


def make(loader, tables, config):
    """The entries of [[inject]], each key checked by itself."""
    out = []
    for index, table in enumerate(tables):
        entry = loader.section("inject", table, f"inject.{index}")
        entry["device"] = entry["device"] or [config["device"][0]["id"]]
        out.append({key: value for key, value in entry.items() if value is not None})
    return out


def cross_check(cell, fail):
    """Ends in fail(key, what, right) when an entry of the cell is none that its devices would take."""
    devices = {device["id"]: device for device in cell["device"]}
    seen, counts = set(), dict.fromkeys(devices, 0)
    for index, entry in enumerate(cell.get("inject", [])):
        prefix = f"inject.{index}"
        if not 0 < len(entry["id"].encode()) <= MAX_ID or ";" in entry["id"]:
            fail(f"{prefix}.id", f"{shown(entry['id'])} is not allowed",
                 f"must be 1 to {MAX_ID} characters without ';'")
        if entry["id"] in seen:
            fail(f"{prefix}.id", f"{shown(entry['id'])} is taken", "each entry has its own id")
        seen.add(entry["id"])
        for name in entry["device"]:
            if name not in devices:
                fail(f"{prefix}.device", f"there is no device {shown(name)}",
                     f"there is {', '.join(devices)}{did_you_mean(name, devices)}")
            _entry(entry, devices[name]["type"], prefix, fail)
            counts[name] += entry["enabled"]
            if counts[name] > MAX_ENTRIES:
                fail("inject", f"has more than {MAX_ENTRIES} entries for {name}",
                     f"at most {MAX_ENTRIES} are possible")


def _entry(entry, kind, prefix, fail):
    given = [key for key in TRIGGERS if key in entry]
    if len(given) != 1:
        fail(prefix, f"has {' and '.join(given)}" if given else "says not when",
             f"needs exactly one of {', '.join(TRIGGERS)}")
    if "period_ns" in entry and given != ["at_ns"]:
        fail(f"{prefix}.period_ns", "is for at_ns only", f"leave it out with {given[0]}")
    if ("knob" in entry) == ("fault" in entry):
        fail(prefix, "has knob and fault" if "knob" in entry else "says not what", "needs either knob or fault")
    of_knob, of_fault = ("value", "ramp_ns"), ("status", "target")
    what, other = ("knob", of_fault) if "knob" in entry else ("fault", of_knob)
    for key in other:
        if key in entry:
            fail(f"{prefix}.{key}", f"is not for an entry with {what}", "leave it out")
    if what == "knob":
        _knob(entry, prefix, fail)
    else:
        _fault(entry, kind, prefix, fail)


def _knob(entry, prefix, fail):
    key = knobs.table("device")[entry["knob"]]
    if "value" not in entry:
        fail(f"{prefix}.value", "is missing", f"give {key.name} {key.expected()}")
    try:
        key.check(entry["value"])
    except BadValue as bad:
        fail(f"{prefix}.value", bad.what, f"{key.name} {bad.right}")
    if entry.get("ramp_ns") and key.kind != "int":
        fail(f"{prefix}.ramp_ns", f"is not for {key.name}", "which is a word; leave it out")


def _fault(entry, kind, prefix, fail):
    fault, statuses = entry["fault"], knobs.FAULT_STATUSES[kind]
    only = knobs.FAULTS[fault]
    if only not in ("", kind):
        fail(f"{prefix}.fault", f"{shown(fault)} is not for this device", f'needs type = "{only}"')
    if fault in knobs.FAULTS_WITH_TIME and not entry.get("for_ns"):
        fail(f"{prefix}.for_ns", "is missing", f"{fault} needs it")
    if fault == "status" and entry.get("status") not in statuses:
        have = f"{shown(entry['status'])} is not allowed" if "status" in entry else "is missing"
        fail(f"{prefix}.status", have, f"must be {' or '.join(statuses)}"
             f"{did_you_mean(entry.get('status', ''), statuses)}")
    if fault != "status" and "status" in entry:
        fail(f"{prefix}.status", f"is not for {fault}", 'needs fault = "status"')


def entries_of(config, device):
    """The entries of a cell's configuration that the device with this id is given."""
    return [entry for entry in config.get("inject", []) if entry["enabled"] and device in entry["device"]]


def text(entries):
    """The entries as the device's property "inject" takes them."""
    return ";".join(",".join(f"{key.replace('_', '-')}={_value(key, value)}"
                             for key, value in entry.items() if key not in OWN) for entry in entries)


def _value(key, value):
    return value.replace("_", "-") if key == "knob" else str(value).replace(",", ",,")


def check_fired(config, device, verdict):
    """An entry that never fired makes a run of something else than was asked for."""
    for name, stats in device.items():
        found = {one["id"]: one for one in stats.get("inject", [])}
        for entry in entries_of(config, name):
            count = found.get(entry["id"], {"fired": 0, "triggered": 0, "refused": 0})
            if not count["fired"]:
                verdict.add("not-fired", f"{name}: inject {entry['id']} never fired: triggered "
                            f"{count['triggered']} times, refused {count['refused']}")
