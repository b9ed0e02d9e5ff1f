# SPDX-License-Identifier: GPL-2.0-or-later
"""`irqbed report`: results as one HTML page."""

import sys
from pathlib import Path

from . import report, results
from .errors import UserError


def add_parser(sub):
    parser = sub.add_parser("report", help="make one HTML page of results",
                            description="Write one self-contained HTML page to standard output, "
                                        "or to a file.")
    parser.add_argument("dirs", metavar="DIR", nargs="+", help="directory that `irqbed run` wrote")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE (default: stdout)")
    return parser


def run(args):
    text = report.page([(name, results.load(name)) for name in args.dirs])
    if not args.output:
        sys.stdout.write(text)
        return 0
    try:
        results.replace(Path(args.output), text)
    except OSError as err:
        raise UserError(f"{args.output}: --output: cannot be written: {err.strerror}; give a file "
                        "in a directory that can be written") from None
    return 0
