# SPDX-License-Identifier: GPL-2.0-or-later
"""`irqbed list`: the experiments, one line each."""

import sys

from . import experiment, paths
from .errors import UserError


def add_parser(sub):
    return sub.add_parser("list", help="list the experiments",
                          description="List the experiments under experiments/, one line each.")


def run(_args):
    files = sorted(paths.EXPERIMENTS.glob("*.toml"))
    width = max((len(file.stem) for file in files), default=0)
    bad = 0
    for file in files:
        try:
            exp = experiment.load(file.stem)
        except UserError as err:
            print(f"irqbed: {err}", file=sys.stderr)
            bad = 2
            continue
        print(f"{file.stem:<{width}}  {len(exp.cells):3} cells  "
              f"{exp.config['experiment']['title']}")
    return bad
