# SPDX-License-Identifier: GPL-2.0-or-later
"""Packages from the Debian archive without installing them.

A private apt state in the cache: its own source list and indexes, checked
against the host's archive keyring. The mirror is the one that the host's own
apt uses. Nothing of this needs root or changes the host.
"""

import os
import re
import shutil
import tempfile

from .. import paths
from ..errors import UserError
from . import host
from .run import StepFailed

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
TARGET_FORMAT = "$(RELEASE)|$(CODENAME)|$(COMPONENT)|$(REPO_URI)"
UNREACHABLE = re.compile(r"Could not resolve|Could not connect|Temporary failure|Unable to connect|"
                         r"Network is unreachable|No route to host|Connection (refused|timed out|failed)|"
                         r"Failed to fetch|Cannot initiate the connection|Connection failed")
# (type, mirror, suite) of each private state; sid is large and rarely wanted.
SUITES = {
    "main": (("deb deb-src", "main", "bookworm"), ("deb", "security", "bookworm-security"),
             ("deb", "main", "bookworm-backports"), ("deb-src", "main", "trixie")),
    "sid": (("deb", "main", "sid"),),
}


class Unreachable(StepFailed):
    """The mirror did not answer."""


class Archive:
    """One private apt state: "main" or "sid"; instead says what to pass without a network."""

    updated = set()                 # states whose indexes this process has fetched

    def __init__(self, name, log, instead):
        self.name = name
        self.log = log
        self.instead = instead
        self.state = paths.apt_state() / name

    def source(self, package, suite, folder):
        """Download a source package into folder (made when complete); its .dsc."""
        return self._fetch(["source", "--download-only", f"{package}/{suite}"], folder, "*.dsc")[0]

    def debs(self, packages, folder):
        """Download binary packages ("name" or "name/suite") into folder; their files."""
        return self._fetch(["download", *packages], folder, "*.deb")

    def depends(self, package, pattern):
        """Names of the package's dependencies that match pattern."""
        self.update()
        text = self.log.output(["apt-cache", *self._options(), "--no-all-versions", "show", package])
        found = []
        for line in text.splitlines():
            if line.startswith("Depends:"):
                for part in line[len("Depends:"):].split(","):
                    name = part.split("|")[0].split("(")[0].strip()
                    if re.fullmatch(pattern, name) and name not in found:
                        found.append(name)
        return found

    def update(self):
        """Fetch the indexes, once per set-up."""
        if self.name in Archive.updated:
            return
        reason = host.unsupported_reason()
        if reason:
            raise UserError(f"{reason}; instead pass {self.instead}")
        self._write_state()
        self._apt(["update", "-o", "APT::Update::Error-Mode=any"])
        Archive.updated.add(self.name)

    def _fetch(self, command, folder, pattern):
        folder = paths.downloads() / folder
        if not folder.exists():
            self.update()
            paths.downloads().mkdir(parents=True, exist_ok=True)
            temporary = tempfile.mkdtemp(prefix=f"{folder.name}.", dir=paths.downloads())
            try:
                self._apt(command, cwd=temporary)
                os.chmod(temporary, 0o755)
                os.rename(temporary, folder)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
        found = sorted(folder.glob(pattern))
        if not found:
            raise StepFailed(f"{folder} has no {pattern}")
        return found

    def _apt(self, command, cwd=None):
        try:
            self.log.run(["apt-get", *self._options(), "-q", *command], cwd=cwd)
        except StepFailed as err:
            lines = self.log.tail(40)
            if any(UNREACHABLE.search(line) for line in lines):
                raise UserError(f"no network: the Debian mirror {self._mirror_named()} cannot be reached "
                                f"({self.log.path} has apt's words); connect, or pass {self.instead}") from err
            raise

    def _options(self):
        return ["-c", str(self.state / "apt.conf")]

    def _mirror_named(self):
        lists = (self.state / "sources.list").read_text().split()
        return next((word for word in lists if "://" in word or word.startswith("mirror+")), "")

    def _write_state(self):
        for folder in ("lists/partial", "archives/partial", "parts"):
            (self.state / folder).mkdir(parents=True, exist_ok=True)
        (self.state / "status").touch()
        settings = {
            "Dir::State": self.state, "Dir::State::status": self.state / "status",
            "Dir::State::lists": self.state / "lists", "Dir::Cache": self.state,
            "Dir::Cache::archives": self.state / "archives",
            "Dir::Etc::sourcelist": self.state / "sources.list",
            "Dir::Etc::sourceparts": self.state / "parts",
            "Dir::Etc::preferences": self.state / "preferences",
            "Dir::Etc::preferencesparts": self.state / "parts",
            # The cache is often in a home that the sandbox user may not enter.
            "APT::Sandbox::User": "root",
            "Acquire::Languages": "none",
            "Acquire::Retries": "3",
        }
        text = "".join(f'{key} "{value}";\n' for key, value in settings.items())
        (self.state / "apt.conf").write_text(text)
        mirror = mirrors(self.log, self.instead)
        lines = [f"{kind} [signed-by={KEYRING}] {mirror[which]} {suite} main\n"
                 for kinds, which, suite in SUITES[self.name] for kind in kinds.split()]
        (self.state / "sources.list").write_text("".join(lines))


def mirrors(log, instead):
    """{"main": URI, "security": URI} of the Debian mirrors that the host's apt uses."""
    text = log.output(["apt-get", "indextargets", "--format", TARGET_FORMAT])
    found = pick_mirrors(text)
    if found is None:
        # The host has never fetched its indexes: fetch them into the cache.
        state = paths.apt_state() / "host"
        (state / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        (state / "archives" / "partial").mkdir(parents=True, exist_ok=True)
        options = ["-o", f"Dir::State::lists={state / 'lists'}", "-o", f"Dir::Cache={state}",
                   "-o", "APT::Sandbox::User=root", "-o", "Acquire::Languages=none"]
        log.run(["apt-get", *options, "-q", "update"])
        found = pick_mirrors(log.output(["apt-get", *options, "indextargets", "--format", TARGET_FORMAT]))
    if found is None and any(UNREACHABLE.search(line) for line in log.tail(40)):
        raise UserError(f"no network: the mirrors of the host's apt cannot be reached ({log.path} has "
                        f"apt's words); connect, or pass {instead}")
    if found is None:
        raise UserError("the host's apt knows no mirror of Debian's main archive; add one to "
                        f"/etc/apt/sources.list, or pass {instead}")
    return found


def pick_mirrors(text):
    """The mirrors in the output of apt-get indextargets, None when there are none."""
    found = {}
    for line in text.splitlines():
        release, codename, component, uri = (line.split("|") + [""] * 4)[:4]
        suite = codename if codename and "$" not in codename else release
        if component != "main" or uri.startswith("cdrom:"):
            continue
        if suite.endswith("-security") or release.endswith("-security"):
            found.setdefault("security", uri)
        elif "-" not in suite and "/" not in suite:
            found.setdefault("main", uri)
    if "main" not in found:
        return None
    found.setdefault("security", re.sub(r"debian/?$", "debian-security/", found["main"]))
    return found
