# SPDX-License-Identifier: GPL-2.0-or-later
"""`irqbed bench`: ratios of cost, each measured against a reference in one run.

A benchmark is a module bench_NAME.py with SUMMARY, one line, and
run(note) -> {"ratios": {KEY: NUMBER}, "info": {KEY: NUMBER}}; note(text) tells
the user how it gets on.
"""

import argparse
import importlib
import json
import pkgutil
import sys

from . import __path__ as package_path
from . import setup
from .errors import UserError

PREFIX = "bench_"


def modules():
    """{name: module} of all benchmarks."""
    names = sorted(m.name for m in pkgutil.iter_modules(package_path) if m.name.startswith(PREFIX))
    return {name[len(PREFIX):]: importlib.import_module(f".{name}", __package__) for name in names}


def add_parser(sub):
    known = "\n".join(f"  {name:8} {module.SUMMARY}" for name, module in modules().items())
    parser = sub.add_parser(
        "bench", help="measure cost against a reference, as ratios",
        description="Measure cost as ratios against a reference that runs in the same minutes; smaller is better.",
        epilog=f"benchmarks:\n{known}\n\nexit status: 0 measured, 1 a run failed, 2 bad input",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", metavar="NAME", help="the benchmark (default: all, one after the other)")
    parser.add_argument("--json", action="store_true", help="print one JSON object for each benchmark")
    setup.add_setup_options(parser)
    return parser


def note(text):
    print(f"irqbed: bench: {text}", file=sys.stderr, flush=True)


def run(args):
    known = modules()
    if args.name is not None and args.name not in known:
        raise UserError(f"bench {args.name}: no such benchmark; there are {', '.join(known)}")
    setup.ensure(args)
    for name in [args.name] if args.name else known:
        result = {"bench": name, **known[name].run(note)}
        if args.json:
            print(json.dumps(result, sort_keys=True), flush=True)
        else:
            print_table(result)
    return 0


def print_table(result):
    width = max(len(key) for part in ("ratios", "info") for key in result.get(part, {"": 0}))
    print(f"{result['bench']}: ratios, smaller is better")
    for key, value in result["ratios"].items():
        print(f"  {key:{width}}  {value:7.3f}")
    if result.get("info"):
        print("for information")
        for key, value in result["info"].items():
            print(f"  {key:{width}}  {value:7.3f}")
