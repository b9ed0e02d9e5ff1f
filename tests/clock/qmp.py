# SPDX-License-Identifier: GPL-2.0-or-later
"""What these tests and those of tests/guest do over a QMP socket."""

import contextlib
import threading

from irqbed_tool.qmp import Qmp


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
