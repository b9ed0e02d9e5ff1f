# SPDX-License-Identifier: GPL-2.0-or-later
"""A few commands over a VM's QMP socket."""

import json
import socket
import time


class Qmp:
    """One connection, tried for LIMIT_S; each answer within ANSWER_S; a with statement closes it."""

    def __init__(self, path, limit_s=60, answer_s=600):
        deadline = time.monotonic() + limit_s
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(answer_s)
        while True:
            try:
                self.socket.connect(str(path))
                break
            except (FileNotFoundError, ConnectionRefusedError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        self.lines = self.socket.makefile("r", encoding="utf-8")
        self.lines.readline()
        self.run("qmp_capabilities")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.lines.close()
        self.socket.close()

    def run(self, command, **arguments):
        """The command's result; raises OSError when QEMU refuses or is gone."""
        message = {"execute": command}
        if arguments:
            message["arguments"] = {k.replace("_", "-"): v for k, v in arguments.items()}
        self.socket.sendall(json.dumps(message).encode())
        for line in self.lines:
            answer = json.loads(line)
            if "error" in answer:
                raise OSError(f"{command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]
        raise OSError(f"{command}: QEMU closed the connection")

    def go_on(self):
        """Start a VM that was saved when it stood still, once it is restored."""
        while self.run("query-status")["status"] == "inmigrate":
            time.sleep(0.05)
        self.run("cont")

    def save(self, path):
        """Stop the VM and write its state to a file."""
        self.run("stop")
        self.run("migrate", uri=f"file:{path}")
        while True:
            status = self.run("query-migrate")["status"]
            if status == "completed":
                return
            if status in ("failed", "cancelled"):
                raise OSError(f"migrate to {path}: {status}")
            time.sleep(0.1)
