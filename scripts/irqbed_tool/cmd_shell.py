# SPDX-License-Identifier: GPL-2.0-or-later
"""`irqbed shell`: the VM of an experiment with its console on the terminal."""

import shlex
import subprocess
import sys

from . import cmd_run, inject, plan, setup, vm


def add_parser(sub):
    parser = sub.add_parser("shell", help="a VM with its console, disks and fio ready",
                            description="Boot the VM of an experiment's first cell with its console "
                                        "on the terminal: driver loaded, disks and fio ready. "
                                        "Ctrl-A X ends it.")
    parser.add_argument("experiment", metavar="NAME|FILE",
                        help="name under experiments/, or path of a TOML file")
    cmd_run.add_set_options(parser)
    setup.add_setup_options(parser)
    return parser


def injections(config):
    """For `irqbed inject`: the experiment's own entries, or that there are none."""
    return [f"--device {device['id']} {shlex.quote(inject.text([entry]))}" for device in config["device"]
            for entry in inject.entries_of(config, device["id"])] or ["ENTRY"]


def run(args):
    exp = cmd_run.load(args)
    boot = plan.make_boots(exp.cells[:1])[0]
    setup.ensure(args, cmd_run.kernels(exp))
    with vm.Vm(boot.machine, [], plan.make_shell_job(boot), boot.extra(), mode="shell") as machine:
        # The experiment's injections wait for a cell's begin, which never comes here.
        machine.devices = plan.Boot(boot.machine, {**boot.config, "inject": []}, []).devices(machine.dir)
        plan.prepare_images(boot, machine.dir)
        machine.prepare()
        print(f"irqbed: {exp.name}: a VM with {boot.machine.cpus} vCPUs, {boot.machine.clock} clock; "
              f"disk {plan.disk(boot.config)}; QMP at {machine.qmp_socket()}\n"
              "irqbed: Ctrl-A X ends it, Ctrl-A C is QEMU's monitor; in another terminal:\n"
              + "".join(f"irqbed:   irqbed inject --vm {machine.dir} {words}\n" for words in injections(boot.config)),
              end="", file=sys.stderr, flush=True)
        return subprocess.call(machine.argv())
