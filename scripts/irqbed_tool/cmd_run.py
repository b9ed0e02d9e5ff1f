# SPDX-License-Identifier: GPL-2.0-or-later
"""`irqbed run`: measure every cell of an experiment and print its table."""

import signal
import sys
from pathlib import Path

from . import chrome, experiment, plot, plot_time, results, runner, setup, table, timeline
from .errors import UserError

EPILOG = """exit status: 0 every cell and check passed, 1 one did not, 2 bad input, 130 interrupted
files: DIR/results.json (the same bytes for the same input, in virtual time),
  DIR/host.json (what depends on the host), DIR/table.txt (what is printed),
  DIR/plot.svg and DIR/plot.png (the table as bars), and with [series]
  DIR/plot-time.svg and DIR/plot-time.png (latency and IOPS over time, injections marked)
examples:
  irqbed run ufs-bounded-hardirq
  irqbed run ufs-bounded-hardirq --timeline t.json --timeline-requests 500:20
  irqbed run my.toml --set 'matrix.numjobs=[1, 4]' --set device.0.service_read_ns=x1.1
"""


def add_parser(sub):
    parser = sub.add_parser("run", help="run an experiment and print its table", epilog=EPILOG,
                            description="Run every cell of an experiment in a VM.",
                            formatter_class=runner.HELP_FORMAT)
    parser.add_argument("experiment", metavar="NAME|FILE",
                        help="name under experiments/, or path of a TOML file")
    add_set_options(parser)
    parser.add_argument("--out", metavar="DIR",
                        help="directory for the results (default: irqbed-out/NAME)")
    parser.add_argument("--jobs", metavar="N", default="1",
                        help="VMs at once, when several boots are needed (default: 1)")
    parser.add_argument("--limit", metavar="S", default="0",
                        help="wall seconds without an answer after which a VM counts as hanging "
                             "(default: by the workload)")
    parser.add_argument("--timeline", metavar="FILE",
                        help="run one cell once more, recorded, and write what devices, driver and vCPUs did as a "
                             "Chrome trace, for Perfetto; docs/timeline.md")
    parser.add_argument("--timeline-cell", metavar="ID", help="which cell (default: the first)")
    parser.add_argument("--timeline-window", metavar="START_US:LEN_US",
                        help="what of it: virtual time since the reset of the statistics, just before the load "
                             "(default: around the first [[inject]])")
    parser.add_argument("--timeline-requests", metavar="FIRST:COUNT",
                        help=f"or requests of each queue, counted from 0 there (default: 0:{timeline.DEFAULT_REQUESTS})")
    parser.add_argument("--json", action="store_true", help="print results.json, not the table")
    parser.add_argument("--dry-run", action="store_true",
                        help="print the QEMU command and the guest's job file; run nothing")
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")
    setup.add_setup_options(parser)
    return parser


def add_set_options(parser):
    """The options that change an experiment; `shell` has them too."""
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[],
                        help="change a key, e.g. device.0.units=4; VALUE is TOML or a plain text; "
                             "x1.1 multiplies a number")
    parser.add_argument("--clock", metavar="virtual|host",
                        help="same as --set machine.clock=...")


def load(args):
    """The experiment that the arguments ask for."""
    sets = list(args.set)
    if args.clock:
        sets.append(f"machine.clock={args.clock}")
    return experiment.load(args.experiment, sets)


def whole_number(text, option, least):
    if not text.isdigit() or int(text) < least:
        raise UserError(f"{option}: {text}: is not allowed; must be a whole number from {least}")
    return int(text)


def kernels(exp):
    return tuple(dict.fromkeys(cell.config["machine"]["kernel"] for cell in exp.cells))


def choose_timeline(args, exp):
    """(cell, window) of --timeline, None without; where the file is to be must be a place for one."""
    if not args.timeline:
        for option in ("timeline_cell", "timeline_window", "timeline_requests"):
            if getattr(args, option):
                raise UserError(f"--{option.replace('_', '-')}: is given without --timeline; give --timeline FILE too")
        return None
    path = Path(args.timeline)
    if path.is_dir() or not path.parent.is_dir():
        raise UserError(f"--timeline: {args.timeline}: cannot be written; give a file in a directory that is there")
    return timeline.choose(exp, args.timeline_cell, args.timeline_window, args.timeline_requests)


def run(args):
    exp = load(args)
    jobs = whole_number(args.jobs, "--jobs", 1)
    limit_s = whole_number(args.limit, "--limit", 0)
    recorded = choose_timeline(args, exp)
    if args.dry_run:
        sys.stdout.write(runner.dry_run(exp))
        return 0
    out = results.make_dir(args.out or Path("irqbed-out") / exp.name)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    setup.ensure(args, kernels(exp), progress=not args.quiet)
    work = runner.Run(exp, jobs, args.quiet, limit_s)
    complete = work.go()
    data = runner.make_results(work, complete)
    results.save(out, data, work.host())
    results.replace(out / "table.txt", table.text(data))
    plot.save(out, "plot", plot.script, data)
    plot.save(out, "plot-time", plot_time.script, data)
    sys.stdout.write(results.text(data) if args.json else table.text(data))
    sys.stdout.flush()
    work.progress.say(f"results are in {out}")
    if not complete:
        raise KeyboardInterrupt
    if recorded:
        work.progress.say(f"timeline: cell {recorded[0].id} once more, recorded")
        trace = timeline.record(*recorded, limit_s)
        chrome.save(Path(args.timeline), trace)
        status = trace["otherData"]["cell_status"]
        work.progress.say(f"the timeline is in {args.timeline}"
                          + ("" if status == "pass" else f"; the recorded cell: {status}"))
    return 0 if data["status"] == "pass" else 1
