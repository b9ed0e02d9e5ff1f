# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: one parser, one module per verb (cmd_VERB.py)."""

import argparse
import importlib
import os
import signal
import subprocess
import sys

from . import VERSION, paths
from .errors import UserError

VERBS = ("setup", "list", "run", "compare", "report", "shell", "inject", "test", "bench")

EPILOG = """examples:
  irqbed run ufs-bounded-hardirq            boot, measure, print the table
  irqbed run my.toml --set device.0.service_read_ns=200000 --out DIR
  irqbed compare DIR1 DIR2                  what changed between two runs
  irqbed test unit qtest                    two of the test suites

exit status: 0 good, 1 a check or a test failed, 2 bad input (one line says what)
environment: XDG_CACHE_HOME (builds and downloads live in $XDG_CACHE_HOME/irqbed)
"""


def git_id():
    """Short commit id of the tool, with '-dirty' when the tree was edited."""
    out = subprocess.run(["git", "-C", str(paths.REPO), "describe", "--always", "--dirty"],
                         capture_output=True, text=True)
    return out.stdout.strip() or "unknown"


class VersionAction(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        print(f"irqbed {VERSION} ({git_id()})")
        parser.exit()


def make_parser():
    """The complete argument parser; pure, so that docs can be made from it."""
    parser = argparse.ArgumentParser(
        prog="irqbed", description="Measure how storage drivers complete interrupts, in a VM.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action=VersionAction, nargs=0, help="print version and commit")
    sub = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        try:
            module = importlib.import_module(f".cmd_{verb}", __package__)
        except ModuleNotFoundError as err:
            if err.name != f"{__package__}.cmd_{verb}":
                raise
            continue
        module.add_parser(sub).set_defaults(func=module.run)
    return parser


def main(argv):
    args = make_parser().parse_args(argv)
    try:
        return args.func(args)
    except UserError as err:
        print(f"irqbed: {err}", file=sys.stderr)
        return err.status
    except KeyboardInterrupt:
        print("irqbed: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
