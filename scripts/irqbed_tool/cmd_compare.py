# SPDX-License-Identifier: GPL-2.0-or-later
"""`irqbed compare`: what changed from one result to another."""

import argparse
import json
import sys

from . import compare, results

EPILOG = """BASE and NEW are directories that `irqbed run` wrote, or their results.json.
exit status: 0 nothing got worse, 1 something did, 2 not comparable (see --threshold)
A metric with threshold 0 is shown, never judged.  Defaults in percent:
  """


def add_parser(sub):
    limits = ", ".join(f"{name} {value:g}" for name, value in
                       compare.thresholds([], "virtual").items() if value)
    parser = sub.add_parser("compare", help="compare two results", epilog=EPILOG + limits,
                            description="Per cell and metric, the change from BASE to NEW.",
                            formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", metavar="BASE")
    parser.add_argument("new", metavar="NEW")
    parser.add_argument("--threshold", metavar="METRIC=PCT", action="append", default=[],
                        help="change in percent that counts (repeatable)")
    parser.add_argument("--all", action="store_true", help="show what is the same, too")
    parser.add_argument("--json", action="store_true", help="print the changes as JSON")
    return parser


def run(args):
    base, new = results.load(args.base), results.load(args.new)
    limits = compare.thresholds(args.threshold, base["clock"])
    compare.ensure_comparable(base, new, (args.base, args.new))
    changes = compare.compare(base, new, limits)
    config = compare.config_changes(base, new)
    worse = [change for change in changes if change.verdict == "worse"]
    if args.json:
        print(json.dumps({"regressions": len(worse), "config": config,
                          "changes": [vars(change) for change in changes]},
                         indent=1, sort_keys=True))
    else:
        show(changes, config, args.all)
    return 1 if worse else 0


def show(changes, config, everything):
    """The text form: configuration, then a line for each change."""
    for key, old, new in config:
        print(f"config {key}: {old} -> {new}")
    shown = [change for change in changes if everything or change.verdict != "same"
             or change.metric == "status"]
    for change in shown:
        percent = "" if change.percent is None else f"{change.percent:+8.2f} %"
        print(f"{change.verdict:<8}{percent:>11}  {change.cell}  {change.metric}: "
              f"{change.base} -> {change.new}")
    count = {verdict: sum(change.verdict == verdict for change in changes)
             for verdict in ("same", "changed", "better", "worse")}
    print(f"{len(changes)} figures: {count['same']} the same, {count['changed']} changed within "
          f"their thresholds, {count['better']} better, {count['worse']} worse")
    sys.stdout.flush()
