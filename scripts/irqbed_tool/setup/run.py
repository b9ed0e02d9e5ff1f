# SPDX-License-Identifier: GPL-2.0-or-later
"""Running a command of a set-up step: environment, log file, progress."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time

from .. import paths

NINJA_COUNT = re.compile(r"^\[(\d+)/(\d+)\]")
KEPT = ("HOME", "USER", "TMPDIR", "TERM", "XDG_CACHE_HOME", "APT_CONFIG", "SSL_CERT_FILE", "SSL_CERT_DIR",
        "http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
REPORT_EVERY_S = 30
GRACE_S = 5

# File descriptors that children keep open: the set-up lock, so that it is
# held until the last compiler is gone even if irqbed itself is killed.
inherited_fds = []


class StepFailed(Exception):
    """A command of a step failed; the log has its output."""


def environment(**more):
    """A build environment that does not depend on the user's shell set-up.

    Compiler flags, Python paths and tool shims of the user stay out; the
    system's directories come first in PATH.
    """
    env = {name: os.environ[name] for name in KEPT if name in os.environ}
    env["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin:" + os.environ.get("PATH", "")
    env["LC_ALL"] = "C.UTF-8"
    env.update(more)
    return env


def end_group(process):
    """End a command and what it started: the lock is free only when all are gone."""
    for signum in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, signum)
            process.wait(timeout=GRACE_S)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            pass


class Log:
    """The log of one step: CACHE/logs/STEP.log, the one before as STEP.log.1."""

    def __init__(self, name, place=None):
        self.path = paths.logs() / f"{name}.log"
        self.place = place          # "[3/9]" in progress lines; None: no progress
        self.file = None

    def __enter__(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            self.path.replace(self.path.with_suffix(".log.1"))
        self.file = open(self.path, "w", encoding="utf-8")
        return self

    def __exit__(self, *exc):
        self.file.close()

    def write(self, text):
        self.file.write(text + "\n")
        self.file.flush()

    def tail(self, count):
        """The last lines that tell something (no ninja progress)."""
        try:
            lines = self.path.read_text(errors="replace").splitlines()
        except OSError:
            return []
        return [line for line in lines if line.strip() and not NINJA_COUNT.match(line)][-count:]

    def run(self, argv, cwd=None, env=None):
        """Run argv with its output in the log; StepFailed when it fails."""
        argv = [str(arg) for arg in argv]
        self.write(f"$ {'cd ' + shlex.quote(str(cwd)) + ' && ' if cwd else ''}{shlex.join(argv)}")
        try:
            process = subprocess.Popen(argv, cwd=cwd, env=env or environment(), stdout=self.file,
                                       stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                       pass_fds=inherited_fds, process_group=0)
        except FileNotFoundError as err:
            raise StepFailed(f"{argv[0]} is not installed") from err
        try:
            self._wait(process)
        except BaseException:
            end_group(process)
            raise
        if process.returncode != 0:
            raise StepFailed(f"{os.path.basename(argv[0])} ended with status {process.returncode}")

    def output(self, argv, cwd=None, env=None):
        """The standard output of a short command; StepFailed when it fails."""
        argv = [str(arg) for arg in argv]
        self.write(f"$ {shlex.join(argv)}")
        done = subprocess.run(argv, cwd=cwd, env=env or environment(), capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            self.write(done.stdout + done.stderr)
            raise StepFailed(f"{os.path.basename(argv[0])} ended with status {done.returncode}")
        return done.stdout

    def _wait(self, process):
        reported = time.monotonic()
        while True:
            try:
                process.wait(timeout=1)
                return
            except subprocess.TimeoutExpired:
                pass
            if self.place and time.monotonic() - reported >= REPORT_EVERY_S:
                reported = time.monotonic()
                self._report()

    def _report(self):
        with open(self.path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 4096))
            lines = file.read().decode(errors="replace").splitlines()
        counts = [match for match in map(NINJA_COUNT.match, lines) if match]
        if counts:
            done, total = counts[-1].groups()
            print(f"{self.place} ... {done} of {total} files", file=sys.stderr, flush=True)
