# SPDX-License-Identifier: GPL-2.0-or-later
"""Bad input: exit status 2, one line on stderr with file and key, nothing written."""

import os

from irqbed_tool.errors import UserError
from support import TINY, TempDirCase, irqbed, tiny

# (what replaces what in TINY, words that the message must have)
FILES = (
    ("", "[machin]\ncpus = 1\n", ("machin", "unknown table", 'did you mean "machine"?')),
    ("", "[machine]\ncups = 1\n", ("machine.cups", "unknown key", 'did you mean "cpus"?')),
    ("", "[machine]\ncpus = 0\n", ("machine.cpus", "0 is not allowed", "1 to 64")),
    ("", "[machine]\ncpus = \"two\"\n", ("machine.cpus", '"two"', "whole number")),
    ("", "[machine]\ncpus = true\n", ("machine.cpus", "true", "whole number")),
    ("", "[machine]\nclock = \"fast\"\n", ("machine.clock", '"virtual" or "host"')),
    ("", "[machine]\nkernel = \"5.10\"\n", ("machine.kernel", "6.12")),
    ("", "[machine]\nirq_cpu = 4\n", ("machine.irq_cpu", "0 to 3")),
    ("", "[machine]\nns_per_insn = [1, 2]\n", ("machine.ns_per_insn", "4 vCPUs")),
    ("", "[machine]\nns_per_insn = 0\n", ("machine.ns_per_insn", "0.125")),
    ("", "[driver]\npolicy = \"bounded\"\n", None),
    ("", "[driver]\npolicy = \"lazy\"\n", ("driver.policy", '"lazy"', "hardirq")),
    ("", "[driver]\ntime_limit_ns = -1\n", ("driver.time_limit_ns", "-1", '"none"')),
    ("", "[driver]\ntime_limit_ns = \"nope\"\n", ("driver.time_limit_ns", '"none"')),
    ("", "[driver]\nqueue_depth = 33\n", ("driver.queue_depth", "0 to 32")),
    ("", "[driver]\nmodule = \"stock\"\n", ("matrix.policy", 'driver.module = "irqbed"')),
    ("", "[driver]\nmodule = \"nvme\"\n", ("driver.module", '"irqbed" or "stock"')),
    ("", "[table]\ncolumns = \"rw\"\n", ("table.columns", "no axis")),
    ("", "[table]\nrows = \"{foo}\"\n", ("table.rows", "{numjobs}")),
    ("", "[table]\nmetrics = [\"iops_agv\"]\n", ("table.metrics", 'did you mean "iops_avg"?')),
    ("numjobs = [1, 2]", 'variant = ["a"]', ("matrix.variant", '"a"', "[variant.NAME]")),
    ("numjobs = [1, 2]", 'variant = ["aftr"]\n[variant.after]\nnumjobs = 1', ("matrix.variant", 'did you mean "after"?')),
    ("numjobs = [1, 2]", 'variant = ["a"]\n[variant.a]\nnumjbos = 1', ("variant.a.numjbos", '"numjobs"')),
    ("numjobs = [1, 2]", 'variant = ["a"]\n[variant.a]\nnumjobs = true', ("variant.a.numjobs", "true")),
    ("numjobs = [1, 2]", 'variant = ["a"]\n[variant.a]\npolicy = "hardirq"', ("matrix.variant", "axis twice", "policy")),
    ("numjobs = [1, 2]", 'variant = ["a"]\n[variant]\na = 1', ("variant.a", "[variant.a]")),
    ("numjobs = [1, 2]", 'variant = ["a", "a"]\n[variant.a]\nnumjobs = 1', ("matrix.variant", "twice")),
    ("numjobs = [1, 2]", 'variant = ["a"]\n[variant.a]\nqueue_depth = 1', ("variant.a.queue_depth", "driver.queue_depth")),
    ("", "[table]\npareto = [\"iops\"]\n", ("table.pareto", "two or more")),
    ("", "[table]\npareto = [\"iops\", \"iops\"]\n", ("table.pareto", "two or more")),
    ("", "[table]\npareto = [\"iops\", \"prob_p99_ns\"]\n", ("table.pareto", '"probe_p99_ns"')),
    ("", "[table]\nnames = 3\n", ("table.names", "table of texts")),
    ("", "[published]\nsource = \"x\"\ncolumns = [\"soft\"]\nrows = [[\"1 IOPS\", 1]]\n",
     ("published.columns", "soft", "hardirq")),
    ("", "[published]\nsource = \"x\"\ncolumns = [\"hardirq\"]\nrows = [[\"1 IOPS\", 1]]\n",
     ("published.rows.0", "no row")),
    ("", "[published]\nsource = \"x\"\ncolumns = [\"hardirq\"]\nrows = [[\"1 avg IOPS\", 1, 2]]\n",
     ("published.rows.0", "1 figures")),
    ("", "[published]\nsource = \"x\"\ncolumns = [\"hardirq\"]\nratios = [[\"1 avg IOPS\", \"half\"]]\n",
     ("published.ratios.0", "1 figures", '"-"')),
    ("", "[published]\nsource = \"x\"\ncolumns = [\"hardirq\"]\nratios = 1\n",
     ("published.ratios", "list of rows")),
    ("", "[published]\nsource = \"x\"\ncolumns = [\"hardirq\"]\n", ("published.rows", "is missing")),
    ("", "[published]\ncolumns = [\"hardirq\"]\nrows = [[\"1 avg IOPS\", 1]]\n",
     ("published.source", "is missing")),
    ("", "[[check.ratio]]\nrow = \"1 avg IOPS\"\nbase = \"hardirq\"\ncolumn = \"soft\"\n", ("check.ratio.0.column", "soft")),
    ("", "[[check.ratio]]\nrow = \"1 avg IOPS\"\ncolumn = \"bounded\"\nbase = \"bound\"\n",
     ("check.ratio.0.base", '"bound"', '"bounded"')),
    ("", "[[check.ratio]]\nrow = \"1 avg IOPS\"\n", ("check.ratio.0.column", "is missing")),
    ("", "[[check.ratio]]\nrow = \"1 avg IOPS\"\nbase = \"hardirq\"\ncolumn = \"bounded\"\nlow = 2\nhigh = 1\n",
     ("check.ratio.0.low", "above high")),
    ("", "[full]\ndevice.x = 1\n", ("full.device", "cannot be changed")),
    ("", "[full]\nworkload.runtme = 1\n", ("workload.runtme", 'did you mean "runtime"?')),
    ("", "device2 = 1\n", ("matrix.device2", "unknown key")),
    ("", "cpus = 1 = 2\n", ("not TOML", "tiny.toml")),
    ('name = "tiny"', "", ("experiment.name", "is missing")),
    ('name = "tiny"', 'name = "a/b"', ("experiment.name", "letters")),
    ('id = "ufs0"', 'id = "a,b"', ("device.0.id", "letters and digits")),
    ('id = "ufs0"', "", ("device.0.id", "is missing")),
    ('type = "ufs"', 'type = "ide"', ("device.0.type", '"ufs"')),
    ("", "[probe]\nperiod = 100\n", ("probe.period", "unknown key", '"period_us"')),
    ("", "[probe]\nperiod_us = 0\n", ("probe.period_us", "1 to 1000000000 us")),
    ("", "[probe]\nperiod_us = 0.5\n", ("probe.period_us", "whole number")),
    ("", "[probe]\njitter_us = 50\n", ("probe.jitter_us", "below half", "100")),
    ("", "[probe]\ncpu = 4\n", ("probe.cpu", "0 to 3")),
    ("", "[machine]\nkernel = \"6.1\"\n", ("driver.module", "6.12 and 6.12-rt only")),
    ('policy = ["hardirq", "bounded"]\nnumjobs = [1, 2]',
     'numjobs = [1, 2]\n[driver]\nmodule = "stock"\n[machine]\nkernel = "6.1"\n[probe]', ("probe", "6.12-rt only")),
    ("", "[[probe]]\nperiod_us = 100\n", ("probe", "[probe]")),
    ("", "[probe]\nperiod_us = 1\njitter_us = 0\n", None),
    ("numjobs = [1, 2]", '"probe.period_us" = [10, 20]', ("matrix.probe.period_us", "[probe]")),
    ('type = "ufs"', 'type = "ufs"\nports = 2', ("device.0.ports", 'type = "ahci"', '"ufs"')),
    ('type = "ufs"', 'type = "ahci"\nports = 0', ("device.0.ports", "1 to 32")),
    ('type = "ufs"', 'type = "ahci"\nports = 1\n[[device.lu]]\n[[device.lu]]', ("device.0.ports", "2 disks")),
    ('type = "ufs"', 'type = "ahci"\nmsi_vectors = 3', ("device.0.msi_vectors", "16 or 32")),
    ('type = "ufs"', 'type = "ahci"\nccc = 1', ("device.0.ccc", "true or false")),
    ("numjobs = [1, 2]", "ports = [1, 2]", ("matrix.ports", "unknown key")),
    ("numjobs = [1, 2]", '"device.0.ports" = [1, 2]', ("matrix.device.0.ports", 'type = "ahci"')),
    ("", "[machine]\niommu = \"amd\"\n", ("machine.iommu", '"intel"')),
    ('rw = "randread"', 'rw = "randread"\ndisks = 2', ("workload.disks", "there are 1 disks")),
    ('type = "ufs"', 'type = "ufs"\n[[device.lu]]\n[[device.lu]]\n[driver]', None),
    ('[workload]', '[[device.lu]]\n[[device.lu]]\n[workload]\ndisks = 2\nfilename = "/dev/x"',
     ("workload.disks", "no filename")),
    ('[workload]', '[[device.lu]]\n[[device.lu]]\nsize_mib = 4\n[workload]\ndisks = 2\nsize = "8m"',
     ("workload.size", "device.0.lu.1.size_mib is 4")),
    ('rw = "randread"', 'tool = "dd"\nrw = "randread"\nsize = "8k"', ("workload.rw", 'tool = "dd"', "bs and size")),
    ('rw = "randread"\nbs = "4k"', 'tool = "dd"\nbs = "4k"', ("workload.size", "multiple of bs")),
    ('rw = "randread"\nbs = "4k"', 'tool = "dd"\nsize = "4k"', ("workload.bs", "is missing")),
    ('rw = "randread"\nbs = "4k"', 'tool = "dd"\nsize = "7k"\nbs = "4k"', ("workload.size", "multiple of bs")),
    ('rw = "randread"\nbs = "4k"', 'tool = "dd"\nsize = "8k"\nbs = "4k"\ntarget = "file"',
     ("workload.target", '"disk"')),
    ('rw = "randread"', 'tool = "cat"', ("workload.tool", '"fio" or "dd"')),
    ('type = "ufs"', 'type = "ufs"\nunits = 0', ("device.0.units", "1 to 4096")),
    ('type = "ufs"', 'type = "ufs"\nunits = 4\nslow_unit = 4', ("device.0.slow_unit", "no unit 4", "0 to 3")),
    ('type = "ufs"', 'type = "ufs"\nslow_unit_factor = 0', ("device.0.slow_unit_factor", "1 to 1000")),
    ('type = "ufs"', 'type = "ufs"\nservice_read_ns = 1.5', ("device.0.service_read_ns", "1.5")),
    ('type = "ufs"', 'type = "ufs"\nservice_read_dist = "gauss"',
     ("device.0.service_read_dist", "lognormal")),
    ('type = "ufs"', 'type = "ufs"\nservice_read_dist = "table"', ("device.0.service_read_dist", "service_read_table")),
    ('type = "ufs"', 'type = "ufs"\nservice_read_table = [[50, 5], [50, 6]]',
     ("device.0.service_read_table", "percentiles ascend")),
    ('type = "ufs"', 'type = "ufs"\nservice_read_table = [[50, 5], [60, 4]]',
     ("device.0.service_read_table", "do not descend")),
    ('type = "ufs"', 'type = "ufs"\nservice_read_table = [[50.0000001, 5]]',
     ("device.0.service_read_table", "six decimals")),
    ('type = "ufs"', 'type = "ufs"\nservice_read_table = [50, 5]', ("device.0.service_read_table", "list of")),
    ('type = "ufs"', 'type = "ufs"\nhold_until = "never"', ("device.0.hold_until", "lu-reset")),
    ('type = "ufs"', 'type = "ahci"\nhold_until = "abort"', ("device.0.hold_until", 'type = "ufs"')),
    ('type = "ufs"', 'type = "ufs"\n[[device.lu]]\nblock_bytes = 512', ("device.0.lu.0.block_bytes", "4096 to 65536")),
    ('type = "ufs"', 'type = "ufs"\n[[device.lu]]\nblock_bytes = 12288', ("device.0.lu.0.block_bytes", "16384")),
    ('type = "ufs"', 'type = "ufs"\n[[device.lu]]\nwrite_protect = true',
     ("device.0.lu.0.write_protect", '"permanent"')),
    ('type = "ufs"', 'type = "ahci"\n[[device.lu]]\nblock_bytes = 4096',
     ("device.0.lu.0.block_bytes", 'type = "ufs"')),
    ('type = "ufs"', 'type = "ufs"\nirq_coalesce_count = 8',
     ("device.0.irq_coalesce_count", "irq_coalesce_timeout_ns")),
    ('type = "ufs"', 'type = "ufs"\nlatency_ns = 8', ("device.0.latency_ns", "unknown key")),
    ('type = "ufs"', 'type = "ufs"\nlu = []', ("device.0.lu", "[[device.lu]]")),
    ('type = "ufs"', 'type = "ufs"\n[[device.lu]]\nsize_mib = 0', ("device.0.lu.0.size_mib", "MiB")),
    ('type = "ufs"', 'type = "ufs"\n[[device.lu]]\ndrive = "nowhere.img"',
     ("device.0.lu.0.drive", "no such file")),
    ('type = "ufs"', 'type = "ufs"\n[[device]]\nid = "ufs0"\ntype = "ufs"', ("device.1.id", "is taken")),
    ('rw = "randread"', "", ("workload.rw", "is missing")),
    ('rw = "randread"', 'rw = "random"', ("workload.rw", "randread")),
    ('rw = "randread"', 'rw = "randread"\nreadwrite = "read"', ("workload.readwrite", "given twice")),
    ('rw = "randread"', 'rw = "randread"\nnumjbos = 2', ("workload.numjbos", '"numjobs"')),
    ('rw = "randread"', 'rw = "randread"\niodepth = 0', ("workload.iodepth", "out of range")),
    ('rw = "randread"', 'rw = "randread"\ndirect = 2', ("workload.direct", "true or false")),
    ('rw = "randread"', 'rw = "randread"\noutput-format = "terse"', ("workload.output-format",)),
    ('rw = "randread"', 'rw = "randread"\ntime_based = true', ("workload.runtime", "time_based")),
    ('rw = "randread"', 'rw = "randread"\nruntime = "soon"', ("workload.runtime", "500ms")),
    ('rw = "randread"', 'rw = "randread"\ntarget = "file"', ("workload.size", "32m")),
    ('rw = "randread"', 'rw = "randread"\nsize = "65m"', ("workload.size", "size_mib is 64")),
    ('rw = "randread"', 'rw = "randread"\nrepeats = 0', ("workload.repeats", "1 to 100")),
    ('rw = "randread"', 'rw = "randread"\nfull = "yes"', ("workload.full", "true or false")),
    ('"bounded"]', '"polled"]', ("workload.ioengine", '"io_uring"')),
    ('"bounded"]', '"polled"]\nioengine = ["libaio"]', ("workload.ioengine", '"io_uring"')),
    ('"bounded"]', '"polled"]\nioengine = ["io_uring"]', ("workload.direct", "true")),
    ('"bounded"]', '"bounded"]\nioengine = ["io_uring"]\nhipri = [true]', ("workload.hipri", '"polled"')),
    ('type = "ufs"', 'type = "ufs"\nmcq = true\n[driver]\ntag_sharing = "greedy"',
     ("driver.tag_sharing", "4 hardware queues", "driver.hw_queues = 1")),
    ("numjobs = [1, 2]", "numjobs = 1", ("matrix.numjobs", "list of values")),
    ("numjobs = [1, 2]", "numjobs = []", ("matrix.numjobs", "list of values")),
    ("numjobs = [1, 2]", "numjobs = [1, 1]", ("matrix.numjobs", "twice")),
    ("numjobs = [1, 2]", "numjobs = [0]", ("workload.numjobs", "1 to 1024")),
    ("numjobs = [1, 2]", "queue_depth = [1, 2]", ("matrix.queue_depth", "device.0.queue_depth")),
    ("numjobs = [1, 2]", '"device.7.units" = [1, 2]', ("matrix.device.7.units",)),
    ("numjobs = [1, 2]", "cpus = [1, 99]", ("matrix.cpus", "1 to 64")),
    ("numjobs = [1, 2]", "iodpeth = [1]", ("matrix.iodpeth", '"iodepth"')),
    ("numjobs = [1, 2]", '"driver.policy" = ["hardirq"]', ("matrix.driver.policy", "axis twice")),
)

# An entry is what its table has, and what is wrong with it.
ENTRIES = (
    ("id = 'a'\nevery = 2\nfault = 'irq-lost'", None),
    ("id = 'a'\nat_ns = 0\nperiod_ns = 100\nknob = 'units'\nvalue = 4", None),
    ("id = 'a'\nevery = 2\nfault = 'status'\nstatus = 'ocs-fatal'\ndevice = ['ufs0']", None),
    ("every = 2\nfault = 'irq-lost'", ("inject.0.id", "is missing")),
    ("id = 'a;b'\nevery = 2\nfault = 'irq-lost'", ("inject.0.id", "without ';'")),
    ("id = ''\nevery = 2\nfault = 'irq-lost'", ("inject.0.id", "1 to 31")),
    ("id = '" + 32 * "x" + "'\nevery = 2\nfault = 'irq-lost'", ("inject.0.id", "1 to 31")),
    ("id = 'a'\nfault = 'irq-lost'", ("inject.0", "says not when", "at_ns, after, every, chance_ppm")),
    ("id = 'a'\nafter = 1\nevery = 2\nfault = 'irq-lost'", ("inject.0", "has after and every", "exactly one")),
    ("id = 'a'\nat_ns = -1\nfault = 'irq-lost'", ("inject.0.at_ns", "whole number")),
    ("id = 'a'\nevery = 0\nfault = 'irq-lost'", ("inject.0.every", "1 to")),
    ("id = 'a'\nchance_ppm = 1_000_001\nfault = 'irq-lost'", ("inject.0.chance_ppm", "1 to 1000000")),
    ("id = 'a'\nevery = 2\nperiod_ns = 500\nfault = 'irq-lost'", ("inject.0.period_ns", "at_ns only")),
    ("id = 'a'\nat_ns = 2\nperiod_ns = 99\nfault = 'irq-lost'", ("inject.0.period_ns", "100 to")),
    ("id = 'a'\nevery = 2", ("inject.0", "says not what", "knob or fault")),
    ("id = 'a'\nevery = 2\nfault = 'hold'\nknob = 'units'", ("inject.0", "knob and fault")),
    ("id = 'a'\nevery = 2\nfault = 'irq-los'", ("inject.0.fault", '"irq-lost"?')),
    ("id = 'a'\nevery = 2\nfault = 'irq-no-source'", ("inject.0.fault", 'type = "ahci"')),
    ("id = 'a'\nevery = 2\nfault = 'irq-late'", ("inject.0.for_ns", "is missing")),
    ("id = 'a'\nevery = 2\nfault = 'status'", ("inject.0.status", "is missing", "ocs-fatal")),
    ("id = 'a'\nevery = 2\nfault = 'status'\nstatus = 'unc'", ("inject.0.status", '"unc"', "medium-error")),
    ("id = 'a'\nevery = 2\nfault = 'hold'\nstatus = 'busy'", ("inject.0.status", 'fault = "status"')),
    ("id = 'a'\nevery = 2\nfault = 'hold'\nramp_ns = 5", ("inject.0.ramp_ns", "with fault")),
    ("id = 'a'\nevery = 2\nfault = 'hold'\ntarget = 32", ("inject.0.target", "0 to 31")),
    ("id = 'a'\nevery = 2\nfault = 'hold'\non = 'reads'", ("inject.0.on", '"read"')),
    ("id = 'a'\nevery = 2\nfault = 'hold'\ncolour = 1", ("inject.0.colour", "unknown key")),
    ("id = 'a'\nevery = 2\nknob = 'units'", ("inject.0.value", "is missing", "1 to 4096")),
    ("id = 'a'\nevery = 2\nknob = 'units'\nvalue = 0", ("inject.0.value", "0 is not allowed", "units must be")),
    ("id = 'a'\nevery = 2\nknob = 'units'\nvalue = 1.5", ("inject.0.value", "a whole number or a word")),
    ("id = 'a'\nevery = 2\nknob = 'queue_depth'\nvalue = 1", ("inject.0.knob", '"queue_depth"')),
    ("id = 'a'\nevery = 2\nknob = 'service_read_table'\nvalue = 1", ("inject.0.knob", "service_read_table")),
    ("id = 'a'\nevery = 2\nknob = 'irq_latency_dist'\nvalue = 'odd'", ("inject.0.value", '"odd"', "lognormal")),
    ("id = 'a'\nevery = 2\nknob = 'irq_latency_dist'\nvalue = 'fixed'\nramp_ns = 1", ("inject.0.ramp_ns", "a word")),
    ("id = 'a'\nevery = 2\nfault = 'hold'\ndevice = 'ufs1'", ("inject.0.device", '"ufs1"', '"ufs0"')),
    ("id = 'a'\nevery = 2\nfault = 'hold'\n[[inject]]\nid = 'a'\nevery = 3\nfault = 'hold'",
     ("inject.1.id", "is taken")),
    ("\n[[inject]]\n".join(f"id = 'e{number}'\nafter = 5\nfault = 'hold'" for number in range(33)),
     ("inject", "more than 32")),
)

SETS = (
    ("inject.0.every=2", "inject.0", "has 0 of them"),
    ("nonsense", "--set", "KEY=VALUE"),
    ("machine.cpus", "--set", "KEY=VALUE"),
    ("machine.cpus=0", "machine.cpus", "1 to 64"),
    ("machine.cups=1", "machine.cups", '"cpus"'),
    ("devcie.0.units=1", "devcie.0.units", '"device"'),
    ("device.3.units=1", "device.3.units", "counted from 0"),
    ("device.units=1", "device.units", "device.0.units"),
    ("device.0=1", "device.0", "is not a key"),
    ("device.0.units=many", "device.0.units", '"many"'),
    ("device.0.id=x1.1", "device.0.id", "no number to multiply"),
    ("driver.policy=hardirq", "driver.policy", "matrix.policy=[...]"),
    ("matrix.policy=lazy", "matrix.policy", "hardirq"),
    ("full.workload=1", "full.workload", "unknown key"),
    ("workload.bs=big", "workload.bs", "whole number"),
    ("experiment.name=a b", "experiment.name", "letters"),
)


class BadInput(TempDirCase):
    def check(self, done, words):
        self.assertEqual(done.returncode, 2, f"expected exit status 2\n{done.stdout}{done.stderr}")
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, f"expected one line on stderr, got {done.stderr!r}")
        self.assertTrue(lines[0].startswith("irqbed: "), lines[0])
        for word in words:
            self.assertIn(word, lines[0])
        self.assertEqual(done.stdout, "")

    def test_files(self):
        for old, new, words in FILES:
            with self.subTest(new or old):
                text = TINY.replace(old, new) if old else TINY + new
                path = self.file("tiny.toml", text)
                done = irqbed("run", path, "--out", self.dir / "out", "--dry-run" if words is None
                              else "--quiet")
                if words is None:       # a file that is good, so that this test can fail
                    self.assertEqual(done.returncode, 0, done.stderr)
                    continue
                self.check(done, [str(path), *words])
                self.assertFalse((self.dir / "out").exists(), "a directory was made")

    def test_entries(self):
        for entry, words in ENTRIES:
            with self.subTest(entry):
                text = f"{TINY}\n[[inject]]\n{entry}\n"
                if words is None:
                    tiny(text)
                    continue
                with self.assertRaises(UserError) as caught:
                    tiny(text)
                for word in ("tiny.toml: ", *words):
                    self.assertIn(word, str(caught.exception))
                self.assertNotIn("\n", str(caught.exception))

    def test_entries_by_set_and_matrix(self):
        text = f"{TINY}\n[[inject]]\nid = 'a'\nevery = 2\nfault = 'irq-lost'\n"
        path = self.file("tiny.toml", text)
        self.check(irqbed("run", path, "--set", "inject.0.every=0", "--out", self.dir / "out"),
                   ["--set: inject.0.every", "1 to"])
        self.check(irqbed("run", self.file("axis.toml", text.replace("numjobs =", '"inject.1.every" =')),
                          "--out", self.dir / "out"), ["matrix.inject.1.every", "inject.N"])
        self.check(irqbed("run", self.file("both.toml", text.replace("numjobs =", '"inject.0.after" =')),
                          "--out", self.dir / "out"), ["inject.0", "has after and every"])

    def test_sets(self):
        path = self.file("tiny.toml", TINY)
        for text, *words in SETS:
            with self.subTest(text):
                done = irqbed("run", path, "--set", text, "--out", self.dir / "out")
                self.check(done, ["--set", *words])
                self.assertFalse((self.dir / "out").exists(), "a directory was made")

    def test_no_such_experiment(self):
        self.check(irqbed("run", "ufs-bounded-hardirk"), ['did you mean "ufs-bounded-hardirq"?'])
        self.check(irqbed("run", self.dir / "none.toml"), [str(self.dir / "none.toml"), "no such file"])
        self.check(irqbed("shell", "nowhere"), ["nowhere", "irqbed list"])

    def test_unreadable_file(self):
        path = self.file("tiny.toml", TINY)
        path.write_bytes(b"\xff\xfe")
        self.check(irqbed("run", path), [str(path), "UTF-8"])
        if os.getuid():
            path.chmod(0)
            self.check(irqbed("run", path), [str(path), "cannot be read"])

    def test_out_directory(self):
        path = self.file("tiny.toml", TINY)
        taken = self.file("taken", "")
        self.check(irqbed("run", path, "--out", taken), ["--out", "is not a directory"])
        self.check(irqbed("run", path, "--out", taken / "below"), ["--out", "is not a directory"])
        self.check(irqbed("run", path, "--out", "/proc/irqbed"), ["--out", "/proc/irqbed"])

    def test_numbers(self):
        path = self.file("tiny.toml", TINY)
        self.check(irqbed("run", path, "--jobs", "0"), ["--jobs", "from 1"])
        self.check(irqbed("run", path, "--jobs", "many"), ["--jobs", "many"])
        self.check(irqbed("run", path, "--limit", "1.5"), ["--limit", "from 0"])
        self.check(irqbed("run", path, "--clock", "fast"), ["machine.clock", '"virtual" or "host"'])

    def test_results_that_are_none(self):
        self.check(irqbed("compare", self.dir, self.dir), ["results.json", "cannot be read"])
        self.check(irqbed("report", self.dir), ["results.json", "cannot be read"])
        self.file("results.json", "{")
        self.check(irqbed("compare", self.dir, self.dir), ["results.json", "is not JSON"])
        self.file("results.json", "{}")
        self.check(irqbed("compare", self.dir, self.dir), ["results.json", "schema"])

    def test_a_key_is_never_shadowed_by_fio(self):
        """--set of a fio option that is an axis names the axis."""
        path = self.file("tiny.toml", TINY)
        self.check(irqbed("run", path, "--set", "workload.numjobs=3"), ["matrix.numjobs=[...]"])
