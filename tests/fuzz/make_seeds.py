#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the seed corpus, tests/fuzz/seeds/TARGET/NAME, anew from seeds_*.py."""

import sys

from targets import TARGETS


def seeds_of(target):
    """{name: input}"""
    return {make.__name__: make().bytes() for make in target.seeds}


def main():
    for name, target in TARGETS.items():
        if target.corpus:
            continue
        folder = target.seed_folder(name)
        folder.mkdir(parents=True, exist_ok=True)
        made = seeds_of(target)
        for path in folder.iterdir():
            if path.name not in made:
                path.unlink()
        for seed, data in made.items():
            (folder / seed).write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
