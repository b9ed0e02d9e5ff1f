# SPDX-License-Identifier: GPL-2.0-or-later
"""The one way a verb reports bad input or a failed run to the user."""


class UserError(Exception):
    """Bad input or an unusable host: printed as one line, exit status 2.

    The message says what is wrong, where (file and key), and what would be right.
    """

    status = 2


class RunError(UserError):
    """The input was good but the run failed (a build, a VM): exit status 1."""

    status = 1
