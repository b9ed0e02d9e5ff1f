# SPDX-License-Identifier: GPL-2.0-or-later
"""irqbed setup: fetch and build everything else that irqbed needs."""

import argparse
import sys

from . import paths, setup

EPILOG = """examples:
  irqbed setup                              all that the experiments need by default
  irqbed setup --kernel-version 6.1 --kernel-version 7.2
                                            images for these kernels too
  irqbed setup --qemu-src ~/src/qemu        build this QEMU tree with irqbed's devices
  irqbed setup --qemu-src archive           back to Debian's QEMU source
  irqbed setup --redo qemu-build            do one step again, whatever its stamp says
  XDG_CACHE_HOME=/mnt/big irqbed setup      builds and downloads on another disk

Build tools are installed with apt-get (as root, or with sudo); nothing else is
installed on the host. Every other command does this by itself when something
is missing or was edited.

files: $XDG_CACHE_HOME/irqbed (default ~/.cache/irqbed), logs in its folder logs
exit status: 0 all is there, 1 a step failed (its log is named), 2 the host or an option is not good
"""


def add_parser(sub):
    parser = sub.add_parser(
        "setup", help="fetch and build all that is needed (every verb does it by itself)",
        description="Fetch and build all that irqbed needs: QEMU with irqbed's devices, a guest kernel, "
                    "the guest driver, fio, busybox, firmware and the guest image.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel-version", action="append", default=[], choices=paths.KERNELS,
                        help=f"a guest kernel besides {paths.DEFAULT_KERNEL}; may be repeated")
    parser.add_argument("--tests", action="store_true", help="build what `irqbed test` needs too")
    parser.add_argument("--fuzz", action="store_true",
                        help="build what `irqbed test fuzz` needs too")
    parser.add_argument("--keep-going", action="store_true",
                        help="after a failure do also what does not build on the failed step")
    parser.add_argument("--redo", action="append", default=[], metavar="STEP",
                        help="do this step again (a wrong name lists all); may be repeated")
    setup.add_setup_options(parser)
    return parser


def run(args):
    kernels = tuple(dict.fromkeys([paths.DEFAULT_KERNEL, *args.kernel_version]))
    ran = setup.ensure(args, kernels, redo=args.redo, tests=args.tests,
                       fuzzing=args.fuzz, keep_going=args.keep_going)
    print(f"irqbed: set-up is complete in {paths.cache()}"
          f"{'' if ran else ' (nothing to do)'}", file=sys.stderr)
    return 0
