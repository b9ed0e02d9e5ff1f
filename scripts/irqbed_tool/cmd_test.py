# SPDX-License-Identifier: GPL-2.0-or-later
"""irqbed test: build and run the test suites (meson test), and count."""

import argparse
import json
import re
import shutil
import subprocess
import sys

from . import paths, setup
from .errors import RunError, UserError
from .setup import qemu
from .setup.files import write_file
from .setup.run import environment, inherited_fds

MAX_TOLD = 60           # lines told about one failed test
NOT_BY_DEFAULT = ("fuzz", "slow")
TAP_RESULT = re.compile(r"^(not )?ok\b[^#]*(#\s*(\w+))?")

EPILOG = f"""examples:
  irqbed test                 every suite but {' and '.join(NOT_BY_DEFAULT)}
  irqbed test unit qtest      two suites
  irqbed test slow            what is too slow for every commit
  irqbed test fuzz --fuzz-seconds 3600
                              the fuzz targets, an hour each
  irqbed test --list          the suites and their tests

The closing line counts the cases of all tests: N passed, N failed, N skipped.

files: $XDG_CACHE_HOME/irqbed/host-build/meson-logs/testlog.txt has all output
exit status: 0 no test failed, 1 a test failed, 2 bad input
"""


def add_parser(sub):
    parser = sub.add_parser(
        "test", help="build and run the test suites",
        description="Bring the set-up up to date, build the tests and run them.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="suites to run (default: see below)")
    parser.add_argument("--list", action="store_true", help="list suites and tests instead of running them")
    parser.add_argument("--timeout-multiplier", type=int, default=1, metavar="N",
                        help="give every test N times its time, on a slow host (default: %(default)s)")
    parser.add_argument("--fuzz-seconds", type=int, metavar="N",
                        help="give every target of the suite fuzz N seconds (default: its share of ten minutes)")
    setup.add_setup_options(parser)
    return parser


def run(args):
    if args.timeout_multiplier < 1:
        raise UserError(f"--timeout-multiplier {args.timeout_multiplier}: must be 1 or more")
    if args.fuzz_seconds is not None and args.fuzz_seconds < 1:
        raise UserError(f"--fuzz-seconds {args.fuzz_seconds}: must be 1 or more")
    setup.ensure(args, tests=True, fuzzing="fuzz" in args.suites and not args.list)
    with setup.lock(name="test-lock", what="test run"):
        return run_locked(args)


def run_locked(args):
    """The tests' build and logs are one for all: nobody else is in them."""
    configure()
    tests = introspect()
    suites = sorted({suite for test in tests for suite in suites_of(test)})
    for suite in args.suites:
        if suite not in suites:
            raise UserError(f"test {suite}: no such suite; there are {', '.join(suites)}")
    if args.list:
        for test in sorted(tests, key=lambda test: (suites_of(test), test["name"])):
            if args.suites and not set(args.suites) & set(suites_of(test)):
                continue
            print(f"{','.join(suites_of(test)):8} {test['name']}")
        return 0
    return run_tests(args)


def meson(*arguments):
    """The command line of our meson, else of the system's."""
    own = paths.tools() / "usr" / "bin" / "meson"
    return [sys.executable, str(own), *arguments] if own.exists() else ["meson", *arguments]


def build_env():
    return environment(PYTHONPATH=str(qemu.packages_dir()))


def configure():
    """meson setup into the cache; a build of another work tree goes away first."""
    build = paths.host_build()
    options = [f"-Dqemu_build={paths.qemu_build()}", f"-Dqemu_src={paths.qemu_src()}",
               f"-Dfuzz_build={paths.fuzz_build()}", f"-Dfuzz_out={paths.fuzz_out()}"]
    identity = "\n".join([str(paths.REPO), *options])
    mark = build / "irqbed-configured"
    if (build / "build.ninja").exists() and mark.exists() and mark.read_text() == identity:
        return
    shutil.rmtree(build, ignore_errors=True)
    print("irqbed: configuring the tests", file=sys.stderr)
    done = subprocess.run(meson("setup", *options, str(build), str(paths.REPO)), env=build_env(),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        for line in done.stdout.splitlines()[-12:]:
            print(f"  | {line}", file=sys.stderr)
        raise RunError("meson setup of the tests failed; its last lines are above")
    write_file(mark, identity)


def introspect():
    """All tests that meson knows, after bringing its build files up to date."""
    build = str(paths.host_build())
    for command in (["ninja", "-C", build, "build.ninja"], meson("introspect", "--tests", build)):
        done = subprocess.run(command, env=build_env(), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            for line in (done.stdout + done.stderr).splitlines()[-12:]:
                print(f"  | {line}", file=sys.stderr)
            raise RunError(f"{' '.join(command[:2])} failed; its last lines are above")
    return json.loads(done.stdout)


def suites_of(test):
    return sorted(suite.split(":")[-1] for suite in test["suite"])


def run_tests(args):
    build = paths.host_build()
    log = build / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    command = meson("test", "-C", str(build), "--print-errorlogs",
                    "--timeout-multiplier", str(args.timeout_multiplier))
    for suite in args.suites:
        command += ["--suite", suite]
    if not args.suites:
        for suite in NOT_BY_DEFAULT:
            command += ["--no-suite", suite]
    env = build_env()
    if args.fuzz_seconds:
        env["IRQBED_FUZZ_SECONDS"] = str(args.fuzz_seconds)
    sys.stdout.flush()
    status = subprocess.run(command, env=env, pass_fds=inherited_fds, check=False).returncode
    if not log.exists():
        raise RunError(f"meson test ended with status {status} and without results")
    results = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    passed, failed, skipped = count(results)
    for result in results:
        if is_failed(result):
            print(f"failed: {result['name']} ({result['result']}); all its output: {log.with_suffix('.txt')}")
            for line in failed_cases(result.get("stdout") or ""):
                print(f"  | {line}")
    if status != 0 and failed == 0:
        # The build of the tests broke, or meson did: never a pass.
        failed = 1
    if passed + failed == 0:
        print("no test ran", file=sys.stderr)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or passed == 0 else 0


def failed_cases(output):
    """The "not ok" lines of a TAP output, each with its explanation (meson leaves it out)."""
    lines, is_telling = [], False
    for line in output.splitlines():
        if TAP_RESULT.match(line):
            is_telling = count_cases(line)[1] > 0
        if is_telling and (line.startswith("#") or TAP_RESULT.match(line)):
            lines.append(line)
    if len(lines) > MAX_TOLD:
        lines[MAX_TOLD:] = [f"({len(lines) - MAX_TOLD} more lines)"]
    return lines


def is_failed(result):
    return result["result"] not in ("OK", "SKIP", "EXPECTEDFAIL")


def count(results):
    """(passed, failed, skipped) cases; a test that failed otherwise than by a case counts as one."""
    passed = failed = skipped = 0
    for result in results:
        good, bad, left_out = count_cases(result.get("stdout") or "")
        if is_failed(result) and bad == 0:
            bad = 1
        if result["result"] == "SKIP" and left_out == 0:
            left_out = 1
        if not is_failed(result) and result["result"] != "SKIP" and good + bad + left_out == 0:
            good = 1
        passed, failed, skipped = passed + good, failed + bad, skipped + left_out
    return passed, failed, skipped


def count_cases(output):
    """The cases at the top level of a TAP output; (0, 0, 0) for any other output."""
    good = bad = left_out = 0
    for line in output.splitlines():
        match = TAP_RESULT.match(line)
        if not match:
            continue
        directive = (match.group(3) or "").lower()
        if directive == "skip":
            left_out += 1
        elif directive == "todo" or not match.group(1):
            good += 1
        else:
            bad += 1
    return good, bad, left_out
