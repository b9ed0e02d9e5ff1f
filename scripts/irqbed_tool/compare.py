# SPDX-License-Identifier: GPL-2.0-or-later
"""Two results of one experiment: what changed, and whether it got worse.

Two runs of the same input in virtual time are the same bytes, so that the
thresholds are for changes of the code; for the host's clock they are wider.
"""

from dataclasses import dataclass

from . import knobs
from .errors import UserError
from .keys import did_you_mean
from .metrics import METRICS

# In host time a change counts only from here on, in percent.
HOST_CLOCK_FLOOR = 25.0


@dataclass(frozen=True)
class Change:
    cell: str
    metric: str
    base: object
    new: object
    percent: object         # None when there is no base to relate to
    threshold: float
    verdict: str            # "same", "better", "worse", "changed" (not judged)


class NotComparable(UserError):
    """Results that do not belong together: exit status 2."""


def thresholds(pairs, clock):
    """{metric: percent}, from the defaults and METRIC=PCT arguments."""
    out = {name: metric.threshold for name, metric in METRICS.items()}
    if clock == "host":
        out = {name: max(value, HOST_CLOCK_FLOOR) if value else 0 for name, value in out.items()}
    for text in pairs:
        name, _, percent = text.partition("=")
        if name not in METRICS:
            raise UserError(f"--threshold: {name}: unknown metric; metrics are "
                            f"{', '.join(METRICS)}{did_you_mean(name, METRICS)}")
        try:
            out[name] = float(percent)
        except ValueError:
            out[name] = -1.0
        if not 0 <= out[name] <= 1e6:
            raise UserError(f"--threshold: {text}: not METRIC=PERCENT; for example iops_avg=3, or "
                            "0 to show the metric without judging it")
    return out


def _flat(value, path=""):
    """{dotted key: value} of a configuration."""
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        items = enumerate(value)
    else:
        return {path: value}
    out = {}
    for key, item in items:
        out.update(_flat(item, f"{path}.{key}" if path else str(key)))
    return out


def _is_default(key, value):
    """Whether a key has its default: then the other side, older or newer, behaves the same.

    [probe] has no defaults in this sense: that it is there makes the difference.
    """
    section, *middle, name = key.split(".")
    section = "lu" if "lu" in middle else section
    return section in knobs.SECTIONS and section != "probe" and knobs.defaults(section).get(name, value) == value \
        and name in knobs.table(section)


def config_changes(base, new):
    """[(key, old, new)] of what differs between two configurations; a new key's default does not."""
    one, two = _flat(base["config"]), _flat(new["config"])
    both = {**one, **two}
    ignored = ("experiment.", "published.", "table.", "check.")
    return [(key, one.get(key), two.get(key)) for key in sorted({*one, *two})
            if one.get(key) != two.get(key) and not key.startswith(ignored)
            and not (one.keys() ^ two.keys() >= {key} and _is_default(key, both[key]))]


def ensure_comparable(base, new, names):
    """NotComparable unless both are of one experiment, clock, and set of cells."""
    for key, what in (("experiment", "experiments"), ("clock", "clocks")):
        if base[key] != new[key]:
            raise NotComparable(f"{names[1]}: {key}: {new[key]} is not {base[key]}; compare results "
                                f"of the same {key}")
    cells = [{cell["id"] for cell in data["cells"]} for data in (base, new)]
    if cells[0] != cells[1]:
        odd = sorted(cells[0] ^ cells[1])
        raise NotComparable(f"{names[1]}: cells: {odd[0]} is only in one of the two; compare "
                            "results of the same matrix")
    one, two = (_flat(data["config"]) for data in (base, new))
    odd = sorted(key for key in one.keys() ^ two.keys()
                 if key.startswith(("machine.", "device.", "inject.", "driver.", "block.", "probe.",
                                    "workload."))
                 and not _is_default(key, {**one, **two}[key]))
    if odd:
        raise NotComparable(f"{names[1]}: config.{odd[0]}: is only in one of the two; compare "
                            "results of the same experiment file")


def compare(base, new, limits):
    """[Change] for every cell and metric, in the order of BASE."""
    other = {cell["id"]: cell for cell in new["cells"]}
    out = []
    for cell in base["cells"]:
        twin = other[cell["id"]]
        if cell["status"] != twin["status"]:
            out.append(Change(cell["id"], "status", cell["status"], twin["status"], None, 0,
                              "worse" if cell["status"] == "pass" else
                              "better" if twin["status"] == "pass" else "changed"))
        elif cell["status"] != "pass":
            out.append(Change(cell["id"], "status", cell["status"], twin["status"], None, 0, "same"))
        for name in METRICS:
            one, two = cell["metrics"].get(name), twin["metrics"].get(name)
            if one is None and two is None:
                continue
            out.append(_change(cell["id"], name, one, two, limits[name]))
    return out


def _change(cell, name, one, two, limit):
    if one is None or two is None:
        return Change(cell, name, one, two, None, limit, "worse" if two is None and limit
                      else "changed")
    if one == two:
        return Change(cell, name, one, two, 0.0, limit, "same")
    percent = (two - one) / abs(one) * 100 if one else None
    if not limit:
        verdict = "changed"
    elif percent is None:
        verdict = "worse" if METRICS[name].better < 0 else "better"
    elif abs(percent) < limit:
        verdict = "changed"
    else:
        verdict = "better" if percent * METRICS[name].better > 0 else "worse"
    return Change(cell, name, one, two, percent, limit, verdict)
