# SPDX-License-Identifier: GPL-2.0-or-later
"""The job file that the guest agent works through, and its answers.

One step a line, fields separated by TAB; scripts/guest/agent.c is the reader.
"""

import json


def _escape(field):
    return str(field).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


class Job:
    """A list of steps; text() is what the irqbed-ctl device hands to the agent."""

    def __init__(self):
        self.steps = []

    def _add(self, *fields):
        self.steps.append(tuple(str(f) for f in fields))
        return self

    def cell(self, cell_id):
        """Start a cell: all answers up to end() carry its id."""
        return self._add("cell", cell_id)

    def end(self):
        return self._add("end")

    def write(self, path, text):
        """Write text to a file that exists (sysfs, debugfs); the answer has errno."""
        return self._add("write", path, text)

    def read(self, name, path):
        return self._add("read", name, path)

    def exec(self, name, argv, timeout_ms=600_000):
        """Run argv; it is killed after timeout_ms of guest time."""
        return self._add("exec", name, timeout_ms, *argv)

    def shell(self, name, script, timeout_ms=600_000):
        return self.exec(name, ["/bin/sh", "-c", script], timeout_ms)

    def stats(self, name, reset=False):
        """Snapshot the statistics of all controllers; reset them afterwards if asked."""
        return self._add("stats", name, *(["reset"] if reset else []))

    def records(self, name):
        """What the controllers have recorded for a timeline."""
        return self._add("stats", name, "records")

    def insns(self, name):
        """Instructions that all vCPUs have executed so far; 0 with clock = "host"."""
        return self._add("insns", name)

    def dmesg(self):
        """Kernel messages that are new since the last dmesg step."""
        return self._add("dmesg")

    def leave(self):
        """End the agent but not the machine: /init goes on to a shell."""
        return self._add("return")

    def poweroff(self):
        return self._add("poweroff")

    def text(self):
        return "".join("\t".join(map(_escape, step)) + "\n" for step in self.steps)


class AnswerReader:
    """Takes the answer file as it grows; gives whole lines as dicts.

    A line that is not JSON (a truncated write of a killed QEMU) is kept in
    .garbage instead of being dropped.
    """

    def __init__(self, path):
        self.path = path
        self.offset = 0
        self.rest = b""
        self.garbage = []

    def poll(self):
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset)
                data = file.read()
        except FileNotFoundError:
            return []
        self.offset += len(data)
        *lines, self.rest = (self.rest + data).split(b"\n")
        answers = []
        for line in lines:
            try:
                answers.append(json.loads(line))
            except ValueError:
                self.garbage.append(line.decode("latin-1"))
        return answers
