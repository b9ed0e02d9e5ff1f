# SPDX-License-Identifier: GPL-2.0-or-later
"""`irqbed inject`: injections into a VM that runs, over its QMP socket."""

import argparse
import json
import tempfile
from pathlib import Path

from . import vm
from .errors import UserError
from .qmp import Qmp

ANSWER_S = 20
PERIPHERALS = "/machine/peripheral"

EPILOG = """An ENTRY is in the device's words, see docs/inject.md; what counts, counts from now.
examples:
  irqbed inject id=slow,at-ns=0,knob=irq-latency-ns,value=100000,for-ns=1000000000
  irqbed inject --device ufs1 id=lost,every=1000,fault=irq-lost id=bad,after=5,fault=status,status=ocs-fatal
  irqbed inject --list
  irqbed inject --clear
exit status: 0 done, 2 a wrong entry or no VM (one line says what)
"""


def add_parser(sub):
    parser = sub.add_parser("inject", help="inject latency and faults into a running VM", epilog=EPILOG,
                            description="Add injections to a controller of a VM that `irqbed shell` or `irqbed run` "
                                        "started, end them, or say what they did. A run that is disturbed so is "
                                        "no longer reproducible.",
                            formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("entries", metavar="ENTRY", nargs="*", help="what is to be added; all or none are taken")
    parser.add_argument("--vm", metavar="DIR", help="the VM's directory, as `irqbed shell` says it (default: the "
                                                    "only VM there is)")
    parser.add_argument("--device", metavar="ID", help="the controller (default: the first)")
    parser.add_argument("--clear", action="store_true", help="undo and drop all entries, before ENTRY is added")
    parser.add_argument("--list", action="store_true",
                        help="print a line of JSON for each entry: what it is, and how often it fired (default, if "
                             "nothing else is asked for)")
    return parser


def find_vm(given):
    """The QMP socket of the VM in the directory GIVEN, or of the only one."""
    if given:
        path = Path(given) / vm.QMP_SOCKET
        if not path.is_socket():
            raise UserError(f"{given}: --vm: has no VM; give the directory that `irqbed shell` says")
        return path
    found = sorted(Path(tempfile.gettempdir()).glob(f"{vm.DIR_PREFIX}*/{vm.QMP_SOCKET}"))
    if len(found) != 1:
        there = ", ".join(str(path.parent) for path in found)
        raise UserError(f"inject: there are {len(found)} VMs; give one with --vm: {there}" if found else
                        "inject: no VM runs; start one with `irqbed shell NAME`")
    return found[0]


def controllers(monitor):
    """Ids of the VM's controllers, in the order of their addresses."""
    def address(name):
        return monitor.run("qom-get", path=f"{PERIPHERALS}/{name}", property="addr")

    names = [item["name"] for item in monitor.run("qom-list", path=PERIPHERALS)
             if item["type"] in ("child<irqbed-ufs>", "child<irqbed-ahci>")]
    return sorted(names, key=address)


def choose(names, wanted):
    if not names:
        raise UserError("inject: the VM has no irqbed controller; start one that `irqbed shell` can")
    if wanted and wanted not in names:
        raise UserError(f"{wanted}: --device: there is no such controller; there is {', '.join(names)}")
    return f"{PERIPHERALS}/{wanted or names[0]}"


def run(args):
    socket = find_vm(args.vm)
    try:
        with Qmp(socket, limit_s=0, answer_s=ANSWER_S) as monitor:
            path = choose(controllers(monitor), args.device)
            if args.clear:
                monitor.run("qom-set", path=path, property="inject-clear", value=True)
            if args.entries:
                monitor.run("qom-set", path=path, property="inject", value=";".join(args.entries))
            if args.list or not (args.clear or args.entries):
                for entry in monitor.run("qom-get", path=path, property="stats")["inject"]:
                    print(json.dumps(entry))
    except TimeoutError:
        raise UserError(f"{socket.parent}: --vm: no answer; its QMP socket serves one at a time") from None
    except (ConnectionError, FileNotFoundError):
        raise UserError(f"{socket.parent}: --vm: the VM is gone; start one with `irqbed shell NAME`") from None
    except OSError as err:
        raise UserError(f"inject: {str(err).removeprefix('qom-set: ')}") from None
    return 0
