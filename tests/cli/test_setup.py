# SPDX-License-Identifier: GPL-2.0-or-later
"""Set-up: locking, taking up again, and the one clear line when it cannot go on.

Most cases run irqbed's real set-up machinery with a made-up list of steps in a
cache of their own, so that they need seconds and no network.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from support import REPO, TempDirCase, irqbed
from irqbed_tool import paths
from irqbed_tool.setup import apt, cpio, guest, host, modules

# Runs ensure() with steps one, two, three; step two runs the shell command in
# the environment variable TWO. Each step writes its name to the file "ran".
FAKE = """
import os, sys
from irqbed_tool import cli, paths, setup
from irqbed_tool.errors import UserError
from irqbed_tool.setup import host, plan, steps

def action(name):
    def act(log):
        with open(paths.cache() / "ran", "a") as ran:
            ran.write(name + "\\n")
        if name == "two":
            log.run(["sh", "-c", os.environ["TWO"]], cwd=paths.cache())
        (paths.cache() / (name + ".out")).write_text(name)
    return act

def fake_steps(options, kernels, tests=False, fuzzing=False):
    made = []
    for name in ("one", "two", "three"):
        made.append(steps.Step(name, "step " + name, "a moment", action(name),
                    inputs=lambda: os.environ.get("INPUT", ""),
                    outputs=[paths.cache() / (name + ".out")], needs=made[-1:]))
    return made

plan.steps_for = fake_steps
host.missing_tools = lambda tools: []
sys.exit(cli.main(["setup", *sys.argv[1:]]))
"""
UNSUPPORTED = """
import sys
from irqbed_tool import cli
from irqbed_tool.setup import host
host.os_release = lambda: {"ID": "fedora", "VERSION_ID": "40", "PRETTY_NAME": "Fedora Linux 40"}
sys.exit(cli.main(["setup", *sys.argv[1:]]))
"""
WAIT_S = 60


class SetupCase(TempDirCase):
    """A cache of the test's own and a way to run a script against it."""

    def setUp(self):
        super().setUp()
        self.cache = self.dir / "irqbed"

    def environment(self, **more):
        return {**os.environ, "PYTHONPATH": str(REPO / "scripts"), "PYTHONDONTWRITEBYTECODE": "1",
                "XDG_CACHE_HOME": str(self.dir), "TWO": "true", **more}

    def start(self, script, *args, **env):
        process = subprocess.Popen([sys.executable, "-c", script, *args], env=self.environment(**env),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def finish(self, script, *args, **env):
        """Run to the end; (status, stderr)."""
        process = self.start(script, *args, **env)
        _, err = process.communicate(timeout=WAIT_S)
        return process.returncode, err

    def ran(self):
        path = self.cache / "ran"
        return path.read_text().split() if path.exists() else []

    def wait_until_ran(self, name):
        deadline = time.monotonic() + WAIT_S
        while name not in self.ran():
            self.assertLess(time.monotonic(), deadline, f"step {name} never began")
            time.sleep(0.02)

    def assert_one_line(self, err, *words):
        """One line says it all, with these words and without a traceback."""
        lines = [line for line in err.splitlines() if line.startswith("irqbed: ")]
        self.assertEqual(len(lines), 1, err)
        self.assertNotIn("Traceback", err)
        for word in words:
            self.assertIn(word, lines[0])


class LockTest(SetupCase):
    def test_second_set_up_waits_and_says_so(self):
        first = self.start(FAKE, TWO="while [ ! -e go ]; do sleep 0.05; done")
        self.wait_until_ran("two")
        second = self.start(FAKE)
        said = second.stderr.readline()
        self.assertIn(f"another set-up is running (process {first.pid}); waiting", said)
        (self.cache / "go").touch()
        self.assertEqual(first.wait(timeout=WAIT_S), 0)
        _, err = second.communicate(timeout=WAIT_S)
        self.assertEqual(second.returncode, 0, err)
        self.assertEqual(self.ran(), ["one", "two", "three"], "the second set-up did the work again")

    def test_lock_is_held_until_the_last_child_is_gone(self):
        first = self.start(FAKE, TWO="while [ ! -e go ]; do sleep 0.05; done; echo orphan >> ran")
        self.wait_until_ran("two")
        first.send_signal(signal.SIGKILL)
        first.wait(timeout=WAIT_S)
        second = self.start(FAKE)
        self.assertIn("another set-up is running", second.stderr.readline())
        (self.cache / "go").touch()
        _, err = second.communicate(timeout=WAIT_S)
        self.assertEqual(second.returncode, 0, err)
        self.assertEqual(self.ran(), ["one", "two", "orphan", "two", "three"])


class TreeTest(SetupCase):
    """Two work trees and one cache: what one has built is never changed under it."""

    SCRIPT = FAKE.replace("plan.steps_for =", "from pathlib import Path\n"
                          "paths.REPO = Path(os.environ['TREE'])\nplan.steps_for =")

    def test_another_tree_cannot_have_it_now(self):
        first = self.start(self.SCRIPT, TREE="/trees/one", TWO="while [ ! -e go ]; do sleep 0.05; done")
        self.wait_until_ran("two")
        status, err = self.finish(self.SCRIPT, TREE="/trees/two")
        self.assertEqual(status, 2, err)
        self.assert_one_line(err, str(self.cache), "in use by the work tree /trees/one", "XDG_CACHE_HOME=DIR")
        (self.cache / "go").touch()
        self.assertEqual(first.wait(timeout=WAIT_S), 0)
        self.assertEqual(self.ran(), ["one", "two", "three"])

    def test_several_of_one_tree_at_once_in_a_new_cache(self):
        started = [self.start(self.SCRIPT, TREE="/trees/one") for _ in range(6)]
        for process in started:
            _, err = process.communicate(timeout=WAIT_S)
            self.assertEqual(process.returncode, 0, err)

    def test_another_tree_can_have_it_later_and_says_so(self):
        self.assertEqual(self.finish(self.SCRIPT, TREE="/trees/one")[0], 0)
        status, err = self.finish(self.SCRIPT, TREE="/trees/two")
        self.assertEqual(status, 0, err)
        self.assertIn("was that of the work tree /trees/one", err)
        status, err = self.finish(self.SCRIPT, TREE="/trees/two")
        self.assertEqual((status, "work tree" in err), (0, False), err)


class TestRunTest(SetupCase):
    """Two test runs in one cache take turns."""

    SCRIPT = """
import os, sys, time
from irqbed_tool import cli, cmd_test, paths, setup

setup.ensure = lambda *args, **options: paths.cache().mkdir(parents=True, exist_ok=True)
cmd_test.configure = lambda: None
cmd_test.introspect = lambda: []

def run_tests(args):
    with open(paths.cache() / "ran", "a") as ran:
        ran.write("begin\\n")
        ran.flush()
        while os.environ.get("WAIT") and not (paths.cache() / "go").exists():
            time.sleep(0.05)
        ran.write("end\\n")
    return 0

cmd_test.run_tests = run_tests
sys.exit(cli.main(["test"]))
"""

    def test_second_one_waits_and_says_so(self):
        first = self.start(self.SCRIPT, WAIT="1")
        self.wait_until_ran("begin")
        second = self.start(self.SCRIPT)
        self.assertIn(f"another test run is running (process {first.pid}); waiting", second.stderr.readline())
        (self.cache / "go").touch()
        self.assertEqual(first.wait(timeout=WAIT_S), 0)
        _, err = second.communicate(timeout=WAIT_S)
        self.assertEqual(second.returncode, 0, err)
        self.assertEqual(self.ran(), ["begin", "end", "begin", "end"])


class ResumeTest(SetupCase):
    def interrupt(self, signum, status):
        first = self.start(FAKE, TWO="sleep 600")
        self.wait_until_ran("two")
        time.sleep(0.3)                     # let the command of the step begin
        first.send_signal(signum)
        _, err = first.communicate(timeout=WAIT_S)
        self.assertEqual(first.returncode, status, err)
        self.assertNotIn("Traceback", err)
        status, err = self.finish(FAKE)
        self.assertEqual(status, 0, err)
        self.assertEqual(self.ran(), ["one", "two", "two", "three"])
        self.assertIn("[1/2] step two", err)

    def test_after_ctrl_c(self):
        self.interrupt(signal.SIGINT, 130)

    def test_after_sigterm(self):
        self.interrupt(signal.SIGTERM, 143)

    def test_failed_step_names_its_log_and_is_done_again(self):
        status, err = self.finish(FAKE, TWO="echo what went wrong; exit 3")
        self.assertEqual(status, 1, err)
        self.assert_one_line(err, "step two", "status 3", str(self.cache / "logs" / "two.log"))
        self.assertIn("  | what went wrong", err)
        self.assertEqual(self.finish(FAKE)[0], 0)
        self.assertEqual(self.ran(), ["one", "two", "two", "three"])

    def test_nothing_to_do(self):
        self.assertEqual(self.finish(FAKE)[0], 0)
        status, err = self.finish(FAKE, TWO="exit 1")
        self.assertEqual(status, 0, err)
        self.assertIn("nothing to do", err)

    def test_changed_input_and_missing_output(self):
        self.assertEqual(self.finish(FAKE)[0], 0)
        (self.cache / "two.out").unlink()
        self.assertEqual(self.finish(FAKE)[0], 0)
        self.assertEqual(self.ran()[3:], ["two", "three"])
        self.assertEqual(self.finish(FAKE, INPUT="other")[0], 0)
        self.assertEqual(self.ran()[5:], ["one", "two", "three"])

    def test_redo(self):
        self.assertEqual(self.finish(FAKE)[0], 0)
        self.assertEqual(self.finish(FAKE, "--redo", "three")[0], 0)
        self.assertEqual(self.ran()[3:], ["three"])
        status, err = self.finish(FAKE, "--redo", "four")
        self.assertEqual(status, 2)
        self.assert_one_line(err, "--redo four", "one, two, three")


class CannotTest(SetupCase):
    def test_no_space_from_a_command(self):
        status, err = self.finish(FAKE, TWO="echo 'cc1: No space left on device'; exit 1")
        self.assertEqual(status, 2, err)
        self.assert_one_line(err, "no space", "XDG_CACHE_HOME=DIR")

    def test_no_space_before_the_work(self):
        unshare = ["unshare", "-m" if os.geteuid() == 0 else "-rm"]
        mount = [*unshare, "sh", "-c", 'mount -t tmpfs -o size=4m none "$1" && shift && exec "$@"', "sh",
                 str(self.dir)]
        if subprocess.run([*mount, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no private mount is possible here")
        done = subprocess.run([*mount, sys.executable, "-m", "irqbed_tool", "setup"], env=self.environment(),
                              capture_output=True, text=True, timeout=WAIT_S, check=False)
        if "build tools are missing" in done.stderr:
            self.skipTest("build tools are missing")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assert_one_line(done.stderr, "no space", "MiB", "XDG_CACHE_HOME=DIR")

    def test_no_network(self):
        if host.unsupported_reason() or host.missing_tools(host.wanted_tools(archive=True)):
            self.skipTest("needs Debian 12 with the build tools")
        nowhere = "http://127.0.0.1:9"
        config = self.file("apt.conf", f'Acquire::http::Proxy "{nowhere}";\nAcquire::https::Proxy "{nowhere}";\n')
        status, err = self.finish("from irqbed_tool.__main__ import *", "setup", APT_CONFIG=str(config),
                                  http_proxy=nowhere, https_proxy=nowhere)
        if "installing build tools" in err:
            self.skipTest("build tools are missing")
        self.assertEqual(status, 2, err)
        self.assert_one_line(err, "no network", "--kernel FILE")

    def test_unsupported_system(self):
        status, err = self.finish(UNSUPPORTED)
        self.assertEqual(status, 2, err)
        if "build tools are missing" in err:
            self.assert_one_line(err, "Fedora Linux 40", "install these first")
        else:
            self.assert_one_line(err, "Fedora Linux 40", "Debian 12", "--kernel FILE")

    def test_cache_that_cannot_be_written(self):
        file = self.file("file", "")
        status, err = self.finish(FAKE, XDG_CACHE_HOME=str(file))
        self.assertEqual(status, 2, err)
        self.assert_one_line(err, str(file), "XDG_CACHE_HOME=DIR")


class OptionsTest(SetupCase):
    def bad(self, *args, words=()):
        status, err = self.finish(FAKE, *args)
        self.assertEqual(status, 2, err)
        self.assert_one_line(err, *words)
        self.assertEqual(self.ran(), [])

    def test_bad_paths(self):
        (self.dir / "tree").mkdir()
        self.bad("--qemu-src", str(self.dir / "tree"), words=("--qemu-src", "no VERSION in it"))
        (self.dir / "tree" / "VERSION").write_text("9.2.0\n")
        self.bad("--qemu-src", str(self.dir / "tree"), words=("--qemu-src", "QEMU 9.2.0", "10.0.x"))
        self.bad("--kernel", str(self.dir / "bzImage"), words=("--kernel", "no such file"))
        self.bad("--kernel", str(self.file("bzImage", "")), words=("--kernel", "--modules DIR is needed"))
        self.bad("--fio", str(self.dir / "fio"), words=("--fio", "no such file"))

    def test_remembered_until_archive(self):
        fio = self.file("fio", "")
        self.assertEqual(self.finish(FAKE, "--fio", str(fio))[0], 0)
        self.assertIn(str(fio), (self.cache / "setup.json").read_text())
        self.assertEqual(self.finish(FAKE)[0], 0)
        self.assertIn(str(fio), (self.cache / "setup.json").read_text())
        self.assertEqual(self.finish(FAKE, "--fio", "archive")[0], 0)
        self.assertEqual((self.cache / "setup.json").read_text(), "{}\n")


class PatchTest(SetupCase):
    """hw/qemu/patches on a small tree: only what comes out different is written."""

    SCRIPT = """
import sys
from pathlib import Path
from irqbed_tool.setup import qemu, run
qemu.PATCHES = Path(sys.argv[1])
with run.Log("patch") as log:
    qemu.apply_patches(log)
"""
    PATCH = "--- a/{0}\n+++ b/{0}\n@@ -1,2 +1,2 @@\n one\n-two\n+{1}\n"
    NEW = "--- /dev/null\n+++ b/new.c\n@@ -0,0 +1 @@\n+new\n"

    def setUp(self):
        super().setUp()
        self.src, self.patches = self.cache / "qemu" / "src", self.dir / "patches"
        for folder in ("hw", "tests/qtest", "configs/devices/x86_64-softmmu"):
            (self.src / folder).mkdir(parents=True)
        self.patches.mkdir()
        for name in ("a.c", "b.c"):
            (self.src / name).write_text("one\ntwo\n")

    def patch(self, **texts):
        for path in self.patches.iterdir():
            path.unlink()
        for name, text in texts.items():
            (self.patches / f"{name}.patch").write_text(text)
        before = {path: path.stat().st_mtime_ns for path in self.src.glob("*.c")}
        status, err = self.finish(self.SCRIPT, str(self.patches))
        self.assertEqual(status, 0, err)
        return {path.name for path in self.src.glob("*.c") if before.get(path) != path.stat().st_mtime_ns}

    def test_apply_change_and_take_away(self):
        a, b = self.PATCH.format("a.c", "2"), self.PATCH.format("b.c", "2")
        self.assertEqual(self.patch(p1=a, p2=b, p3=self.NEW), {"a.c", "b.c", "new.c"})
        self.assertEqual((self.src / "a.c").read_text(), "one\n2\n")
        self.assertEqual(self.patch(p1=a, p2=b, p3=self.NEW), set(), "files were written for nothing")
        self.assertEqual(self.patch(p1=a, p2=self.PATCH.format("b.c", "zwei")), {"b.c"})
        self.assertFalse((self.src / "new.c").exists())
        self.assertEqual(self.patch(), {"a.c", "b.c"})
        self.assertEqual((self.src / "b.c").read_text(), "one\ntwo\n")


class PartsTest(TempDirCase):
    def test_pick_mirrors(self):
        text = ("bookworm|bookworm|main|mirror+file:/m/debian.list\nbookworm|bookworm|contrib|http://x/\n"
                "bookworm-updates|bookworm-updates|main|http://u/\n"
                "bookworm-security|bookworm-security|main|http://s/debian-security/\n")
        self.assertEqual(apt.pick_mirrors(text),
                         {"main": "mirror+file:/m/debian.list", "security": "http://s/debian-security/"})
        self.assertEqual(apt.pick_mirrors("bookworm|bookworm|main|http://m/debian/\n")["security"],
                         "http://m/debian-security/")
        self.assertIsNone(apt.pick_mirrors("bookworm|bookworm|main|cdrom:[disc]/\n"))
        self.assertIsNone(apt.pick_mirrors(""))

    def test_module_closure(self):
        self.file("modules.dep", "kernel/a.ko.xz: kernel/b-c.ko.xz\nkernel/b-c.ko.xz:\nkernel/d.ko:\n"
                                 "kernel/e_generic.ko:\nkernel/other.ko:\n")
        self.file("modules.builtin", "kernel/built.ko\n")
        self.file("modules.softdep", "# comment\nsoftdep d pre: crypto-e post: nothing\n")
        self.file("modules.alias", "alias crypto-e e_generic\nalias pci:v*d* other\n")

        class Lines(list):
            write = list.append

        log = Lines()
        found = modules.closure(self.dir, ("a", "d", "built", "gone"), log)
        self.assertEqual(found, ["kernel/a.ko.xz", "kernel/b-c.ko.xz", "kernel/d.ko", "kernel/e_generic.ko"])
        self.assertEqual(log, ["this kernel has no module gone"])

    def test_cpio_is_read_back_by_cpio(self):
        tool = shutil.which("cpio")
        command = [tool] if tool else [str(paths.busybox()), "cpio"]
        if not tool and not paths.busybox().exists():
            self.skipTest("no cpio program")
        archive = cpio.Archive()
        archive.file("a/b/text", b"hello")
        archive.file("a/run", b"#!/bin/sh\n", executable=True)
        archive.link("a/link", "b/text")
        data = archive.finish()
        subprocess.run([*command, "-i"], cwd=self.dir, input=data, capture_output=True, check=True)
        self.assertEqual((self.dir / "a/link").read_bytes(), b"hello")
        self.assertTrue(os.access(self.dir / "a/run", os.X_OK))
        self.assertFalse(os.access(self.dir / "a/b/text", os.X_OK))
        self.assertEqual(len(data) % 512, 0)


class ImageTest(TempDirCase):
    """What an experiment boots has nothing of tests/ in it."""

    # From a copy of the tree: what setup packs, and what tells it whether to pack again.
    PACK = """
from irqbed_tool import paths
from irqbed_tool.setup import guest, options, plan, run
with run.Log("pack") as log:
    guest.pack_overlay(paths.DEFAULT_KERNEL, log)
steps = plan.steps_for(dict.fromkeys(options.OPTIONS), (paths.DEFAULT_KERNEL,))
print(next(step.digest() for step in steps if step.name == f"guest-overlay-{paths.DEFAULT_KERNEL}"))
"""

    def setUp(self):
        super().setUp()
        self.base = paths.guest_dir() / "base.cpio.zst"
        if not self.base.exists() or not paths.initramfs().exists():
            self.skipTest("not set up: run scripts/irqbed setup")

    def pack(self):
        """The initramfs that the copied tree makes, and the digest of the step."""
        env = {**os.environ, "PYTHONPATH": str(self.dir / "tree" / "scripts"), "PYTHONDONTWRITEBYTECODE": "1",
               "XDG_CACHE_HOME": str(self.dir)}
        done = subprocess.run([sys.executable, "-c", self.PACK], env=env, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.dir / "irqbed" / paths.initramfs().relative_to(paths.cache())).read_bytes(), done.stdout

    def test_no_guest_test_is_in_it(self):
        argv = irqbed("run", "ufs-bounded-hardirq", "--dry-run").stdout.split()
        initramfs = Path(argv[argv.index("-initrd") + 1]).read_bytes()
        base = self.base.read_bytes()
        self.assertTrue(initramfs.startswith(base))
        unpacked = subprocess.run(["zstd", "-dc", self.base], capture_output=True, check=True).stdout
        unpacked += initramfs[len(base):]
        self.assertTrue(b"0bin/irqbed-agent\0" in unpacked)
        self.assertFalse(b"0tests\0" in unpacked, "it has a folder tests")
        for path in (REPO / "tests" / "guest").glob("*.sh"):
            self.assertFalse(path.read_bytes() in unpacked, path.name)

    def test_a_changed_guest_test_changes_no_byte_of_it(self):
        for name in ("scripts", "guest-driver", "tests/guest"):
            shutil.copytree(REPO / name, self.dir / "tree" / name)
        folder = self.dir / "irqbed" / paths.guest_dir().relative_to(paths.cache())
        folder.mkdir(parents=True)
        for name in ("base.cpio.zst", "driver"):
            (folder / name).symlink_to(paths.guest_dir() / name)
        before = self.pack()
        self.assertTrue(b"0lib/irqbed/irqbed.ko\0" in before[0])
        with open(self.dir / "tree" / "tests" / "guest" / "ktap.sh", "a") as script:
            script.write("# changed\n")
        self.assertTrue(self.pack() == before, "a guest test is in it")
        with open(self.dir / "tree" / "scripts" / "guest" / "init", "a") as script:
            script.write("# changed\n")
        self.assertTrue(all(now != then for now, then in zip(self.pack(), before)), "nothing would be")


class RealTest(unittest.TestCase):
    def test_second_set_up_is_quick_and_needs_no_network(self):
        if not paths.qemu().exists() or not paths.initramfs().exists():
            self.skipTest("not set up: run scripts/irqbed setup")
        done = irqbed("setup", timeout=1800)
        self.assertEqual(done.returncode, 0, done.stderr)
        nowhere = "http://127.0.0.1:9"
        started = time.monotonic()
        done = irqbed("setup", env={"http_proxy": nowhere, "https_proxy": nowhere})
        seconds = time.monotonic() - started
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nothing to do", done.stderr)
        self.assertLess(seconds, 2)

    def test_headers_build_a_module(self):
        headers = paths.kernel_dir() / "headers"
        if not headers.exists():
            self.skipTest("not set up: run scripts/irqbed setup")
        self.assertTrue((headers / "Module.symvers").is_file())
        self.assertNotIn("/usr/src", (headers / "Makefile").read_text())
        self.assertTrue(Path(headers / "scripts" / "mod" / "modpost").exists())

    def test_where_it_was_built_is_not_in_the_guest(self):
        ours = [paths.fio(), *(paths.guest_dir() / name for name in guest.OUR_MODULES)]
        if not all(path.exists() for path in ours):
            self.skipTest("not set up: run scripts/irqbed setup")
        for path in ours:
            self.assertNotIn(os.fsencode(paths.cache()), path.read_bytes(), path.name)
            notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
            self.assertNotIn("Build ID", notes, path.name)


if __name__ == "__main__":
    unittest.main()
