# SPDX-License-Identifier: GPL-2.0-or-later
"""A few commands over a QMP socket, enough for these tests and those of tests/guest."""

import contextlib
import json
import socket
import threading
import time


class Qmp:
    """One connection; a with statement closes it."""

    def __init__(self, path, limit_s=60):
        deadline = time.monotonic() + limit_s
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(600)
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


@contextlib.contextmanager
def resume(guest):
    """Let a restored VM go on: it was saved when it stood still."""

    def go_on():
        with contextlib.suppress(OSError, ValueError), Qmp(guest.qmp_socket()) as monitor:
            monitor.go_on()

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        thread.join()
