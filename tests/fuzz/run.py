#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fuzz a device with QEMU's generic fuzzer (libFuzzer) from the committed seeds; print TAP.

usage: run.py TARGET BUILD OUT         three cases: the seeds are those that make_seeds.py
                                       writes, they reach I/O, and time passes without a finding
       run.py TARGET BUILD OUT INPUT   one input again: a finding, or a seed

BUILD is the QEMU build with sanitizers (`irqbed setup --fuzz`). OUT/TARGET gets
corpus/ (inputs that reached something new), findings/ and log.
environment: IRQBED_FUZZ_SECONDS (instead of the target's own share)
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import make_seeds
from targets import HERE, TARGETS

SLACK_S = 900           # for start, seeds, and a slow host
TOLD = 40               # lines told about a finding
LIBFUZZER = ("-seed=1", "-max_len=4096", "-timeout=120", "-rss_limit_mb=6000", "-print_final_stats=1",
             "-reload=0")


class Fuzzer:
    def __init__(self, name, build, out):
        self.name, self.target, self.build = name, TARGETS[name], Path(build)
        self.out = Path(out) / name
        self.seeds = self.target.seed_folder(name)
        self.program = self.build / "qemu-fuzz-x86_64"
        firmware = self.build.parents[1] / "firmware"
        self.env = {
            "QEMU_FUZZ_ARGS": f"-machine q35,sata=off -nodefaults -L {firmware} "
                              f"-global apic-common.vapic=off {self.target.machine}",
            "QEMU_FUZZ_OBJECTS": self.target.objects,
            "ASAN_OPTIONS": "detect_leaks=1",
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
            "LSAN_OPTIONS": f"suppressions={HERE / 'lsan.supp'}",
        }

    def run(self, *arguments, log, limit_s, more=""):
        """Exit status of the fuzzer, its output in the file log; None past the limit."""
        env = {**os.environ, **self.env}
        env["QEMU_FUZZ_ARGS"] += more
        with open(log, "w", encoding="utf-8") as file:
            try:
                return subprocess.run([self.program, "--fuzz-target=generic-fuzz", *arguments], cwd=HERE, env=env,
                                      stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                                      timeout=limit_s, check=False).returncode
            except subprocess.TimeoutExpired:
                return None

    def again(self, path):
        """The command line that runs one input again."""
        return shlex.join(["tests/fuzz/run.py", self.name, str(self.build), str(self.out.parent), str(path)])

    def count(self, *folders):
        """{label: events} of every input in the folders; None and the log's end if that fails."""
        with tempfile.TemporaryDirectory(prefix="irqbed-fuzz-") as temporary:
            trace, log = Path(temporary) / "trace", Path(temporary) / "log"
            trace.touch()
            events = " ".join(f"-trace {pattern.pattern.split()[0]}" for pattern in self.target.reached.values())
            status = self.run("-runs=0", *LIBFUZZER, *folders, log=log, limit_s=SLACK_S,
                              more=f" {events} -D {trace}")
            if status != 0:
                return None, tail(log)
            counts = dict.fromkeys(self.target.reached, 0)
            with open(trace, encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    for label, pattern in self.target.reached.items():
                        counts[label] += bool(pattern.search(line))
            return counts, ""


def tail(log):
    return Path(log).read_text(errors="replace").splitlines()[-TOLD:]


def told(counts):
    return ", ".join(f"{label} {number}" for label, number in counts.items())


def check_seeds(fuzzer):
    """What is wrong with the committed corpus, as lines."""
    made = make_seeds.seeds_of(fuzzer.target)
    found = {path.name: path.read_bytes() for path in fuzzer.seeds.glob("*")}
    if made != found:
        differ = sorted(name for name in made.keys() | found.keys() if made.get(name) != found.get(name))
        return [f"expected: the seeds of seeds_*.py, got others: {', '.join(differ)}", "again: tests/fuzz/make_seeds.py"]
    return []


def check_reached(fuzzer):
    counts, lines = fuzzer.count(fuzzer.seeds)
    if counts is None:
        return [*lines, *(f"again: {fuzzer.again(path)}" for path in sorted(fuzzer.seeds.iterdir())[:1])]
    print(f"# {fuzzer.name}, the seeds: {told(counts)}")
    if not all(counts.values()):
        return [f"expected: every count above 0, got: {told(counts)}", f"again: {fuzzer.again('SEED')}"]
    return []


def check_fuzzing(fuzzer, seconds):
    corpus, findings, log = (fuzzer.out / name for name in ("corpus", "findings", "log"))
    shutil.rmtree(corpus, ignore_errors=True)
    for folder in corpus, findings:
        folder.mkdir(parents=True, exist_ok=True)
    before = set(findings.iterdir())
    status = fuzzer.run(f"-max_total_time={seconds}", f"-artifact_prefix={findings}/", *LIBFUZZER, corpus,
                        fuzzer.seeds, log=log, limit_s=2 * seconds + SLACK_S)
    found = sorted(set(findings.iterdir()) - before)
    if status != 0 or found:
        why = f"no end within {2 * seconds + SLACK_S} s" if status is None else f"status {status}"
        return [*tail(log), f"expected: {seconds} s without a finding, got: {why}; all output: {log}",
                *(f"again: {fuzzer.again(path)}" for path in found)]
    text = log.read_text(errors="replace")
    runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
    edges = re.findall(r"\bcov: (\d+)", text)
    if not runs or not edges:
        return [*tail(log), f"expected: libFuzzer's final statistics in {log}, got none"]
    print(f"# {fuzzer.name}, {seconds} s: {runs.group(1)} inputs, {edges[-1]} edges reached, "
          f"{len(list(corpus.iterdir()))} inputs kept")
    counts, lines = fuzzer.count(fuzzer.seeds, corpus)
    if counts is None:
        return [*lines, f"expected: seeds and {corpus} run again without a finding"]
    print(f"# {fuzzer.name}, seeds and inputs kept: {told(counts)}")
    return []


def run_one(fuzzer, path):
    log = fuzzer.out / "again.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    status = fuzzer.run(*LIBFUZZER, Path(path).resolve(), log=log, limit_s=SLACK_S)
    print(log.read_text(errors="replace"), end="")
    env = " ".join(f"{key}={shlex.quote(value)}" for key, value in fuzzer.env.items())
    print(f"status {status}; by hand, in {HERE}:\n{env} {fuzzer.program} --fuzz-target=generic-fuzz {path}")
    return 1 if status else 0


def main(argv):
    if len(argv) not in (3, 4) or argv[0] not in TARGETS:
        print(f"{__doc__}\nTARGET is one of {', '.join(TARGETS)}", file=sys.stderr)
        return 2
    fuzzer = Fuzzer(*argv[:3])
    if len(argv) == 4:
        return run_one(fuzzer, argv[3])
    seconds = int(os.environ.get("IRQBED_FUZZ_SECONDS", fuzzer.target.seconds))
    cases = (("the seeds are what make_seeds.py writes", lambda: check_seeds(fuzzer)),
             ("the seeds reach I/O", lambda: check_reached(fuzzer)),
             (f"{seconds} s without a finding", lambda: check_fuzzing(fuzzer, seconds)))
    print(f"TAP version 13\n1..{len(cases)}", flush=True)
    failed = 0
    for number, (title, check) in enumerate(cases, 1):
        lines = check()
        failed += bool(lines)
        print(f"{'not ok' if lines else 'ok'} {number} - {fuzzer.name}: {title}")
        for line in lines:
            print(f"# {line}")
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
