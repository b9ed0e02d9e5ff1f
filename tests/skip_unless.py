# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a test, or print a TAP skip when what it needs has not been built.

usage: skip_unless.py FILE... -- COMMAND ARG...
"""

import os
import sys

needed, command = sys.argv[1:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
for path in needed:
    if not os.path.exists(path):
        print(f"1..0 # SKIP {os.path.basename(path)} is not built: run scripts/irqbed setup")
        sys.exit(0)
os.execvp(command[0], command)
