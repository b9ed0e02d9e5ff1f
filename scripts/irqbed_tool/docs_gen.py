# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes docs/knobs.md, and the tables of keys and metrics in other pages, from the declarations.

    PYTHONPATH=scripts python3 -m irqbed_tool.docs_gen

In a page, what stands between "<!-- keys NAME -->" and "<!-- end -->" is
replaced; tests/cli/test_docs.py checks that the pages agree.
"""

import re

from . import knobs, paths
from .keys import REQUIRED, plain, shown
from .metrics import METRICS

COMMAND = "PYTHONPATH=scripts python3 -m irqbed_tool.docs_gen"
PAGES = ("experiments.md", "results.md")
KNOBS_INTRO = f"""<!-- SPDX-License-Identifier: GPL-2.0-or-later -->
<!-- Made by: {COMMAND} -->
# Knobs

Every knob is declared once (`scripts/irqbed_tool/knobs.py`) and has the same stem everywhere: the key
of an experiment file, the QOM property (`-` for `_`), the module parameter. All can be read back at
run time: the device's with `qom-get`, the driver's in sysfs and debugfs. Times of the device are virtual
time.

"""


def allowed(key):
    """A key's range or choices, short."""
    if key.kind == "enum":
        return ", ".join(f"`{choice}`" for choice in key.choices)
    if key.kind == "bool":
        return "`true`, `false`"
    words = {"str": "text", "file": "path", "texts": "list of texts", "names": "text or list of texts",
             "value": "number or word", "points": "list of [percentile, ns]"}
    if key.kind in words:
        return words[key.kind]
    span = f"{plain(key.low)} to {plain(key.high)}"
    extra = {"limit": ' or `"none"`', "numbers": ", or a list", "ints": ", a list"}
    return span + extra.get(key.kind, "")


def default(key):
    if key.default is REQUIRED:
        return "must be given"
    if key.default is None:
        return f"`{knobs.TAKEN_FROM[key.name]}`" if key.name in knobs.TAKEN_FROM else "-"
    if isinstance(key.default, list):
        return "`[" + ", ".join(map(shown, key.default)) + "]`"
    return f"`{shown(key.default)}`"


def meaning(key):
    return key.doc + (f' Only `type = "{key.only}"`.' if key.only else "")


def rows(heads, lines):
    """A table in Markdown."""
    return "\n".join(["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads),
                      *("| " + " | ".join(line) + " |" for line in lines)]) + "\n"


def keys_table(section):
    """The keys of one section of an experiment file."""
    return rows(("key", "unit", "allowed", "default", "meaning"),
                [(f"`{key.name}`", key.unit or "-", allowed(key), default(key), meaning(key))
                 for key in knobs.SECTIONS[section][0]])


def metrics_table():
    return rows(("metric", "in the table", "better", "regression from"),
                [(f"`{name}`", metric.title, "more" if metric.better > 0 else "less",
                  f"{metric.threshold:g} %" if metric.threshold else "never")
                 for name, metric in METRICS.items()])


def knobs_page():
    device = [(f"`{key.name}`", f"`{key.name.replace('_', '-')}`", key.unit or "-", allowed(key),
               default(key), meaning(key)) for key in knobs.CONTROLLER
              + tuple(key for key in knobs.DEVICE if key.name not in ("id", "type"))]
    driver = [(f"`{key.name}`", key.unit or "-", allowed(key), default(key),
               "debugfs" if key.name in knobs.DRIVER_LIVE else "load", key.doc)
              for key in knobs.DRIVER if key.name != "module"]
    return (KNOBS_INTRO + "## Controllers: `[[device]]`\n\n"
            + rows(("key", "QOM property", "unit", "allowed", "default", "meaning"), device)
            + "\n## Guest driver: `[driver]`\n\nThe key is the module parameter of the same name. "
            "Those marked debugfs can be changed while the\nmodule is loaded, in "
            "`/sys/kernel/debug/irqbed/ADDRESS/`.\n\n"
            + rows(("key and parameter", "unit", "allowed", "default", "set at", "meaning"), driver))


def fill(page):
    """A page's text with its generated parts made anew."""
    def part(match):
        name = match.group(1)
        made = metrics_table() if name == "metrics" else keys_table(name)
        return f"<!-- keys {name} -->\n{made}<!-- end -->"

    return re.sub(r"<!-- keys (\w+) -->\n.*?<!-- end -->", part, page, flags=re.DOTALL)


def pages():
    """{path: text} of everything that is generated."""
    docs = paths.REPO / "docs"
    out = {docs / "knobs.md": knobs_page()}
    for name in PAGES:
        out[docs / name] = fill((docs / name).read_text(encoding="utf-8"))
    return out


if __name__ == "__main__":
    for path, content in pages().items():
        path.write_text(content, encoding="utf-8")
