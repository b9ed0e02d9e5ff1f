# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment files: defaults, --set, [full], the matrix; boots and job files."""

import tomllib
import unittest

from irqbed_tool import experiment, fio_options, plan, vm
from support import TINY, irqbed, tiny

TWO_AHCI = """
[experiment]
name = "two"
title = "for tests"
[[device]]
id = "ahci0"
type = "ahci"
ports = 2
[[device.lu]]
[[device.lu]]
[workload]
tool = "dd"
disks = 2
bs = "1m"
size = "4m"
[matrix]
policy = ["hardirq", "bounded"]
"""


class Loading(unittest.TestCase):
    def test_defaults_are_filled_in(self):
        config = tiny().config
        self.assertEqual(config["machine"]["cpus"], 4)
        self.assertEqual(config["driver"]["time_limit_ns"], 20000)
        self.assertEqual(config["driver"]["max_completions"], "none")
        self.assertEqual(config["device"][0]["lu"],
                         [{"size_mib": 64, "drive": "", "block_bytes": 4096, "write_protect": "off"}])

    def test_devices_take_the_machines_seed(self):
        self.assertEqual(tiny(sets=["machine.seed=7"]).config["device"][0]["seed"], 7)
        self.assertEqual(tiny(sets=["device.0.seed=8"]).config["device"][0]["seed"], 8)

    def test_cells_are_the_product(self):
        ids = [cell.id for cell in tiny().cells]
        self.assertEqual(ids, ["policy=hardirq,numjobs=1", "policy=hardirq,numjobs=2",
                               "policy=bounded,numjobs=1", "policy=bounded,numjobs=2"])
        self.assertEqual(tiny().cells[3].config["driver"]["policy"], "bounded")
        self.assertEqual(tiny().cells[3].config["workload"]["numjobs"], 2)
        self.assertEqual(tiny().cells[0].config["workload"]["numjobs"], 1)

    def test_no_matrix_is_one_cell(self):
        exp = tiny(TINY[:TINY.index("[matrix]")])
        self.assertEqual([cell.id for cell in exp.cells], ["all"])

    def test_set(self):
        def value(text):
            return tiny(sets=[text]).config

        self.assertEqual(value("machine.cpus=2")["machine"]["cpus"], 2)
        self.assertEqual(value("driver.time_limit_ns=none")["driver"]["time_limit_ns"], "none")
        self.assertEqual(value("device.0.units=8")["device"][0]["units"], 8)
        self.assertEqual(value("workload.bs=8k")["workload"]["bs"], "8k")
        self.assertEqual(value("workload.rate-iops=5")["workload"]["rate_iops"], 5)
        self.assertEqual(value("device.0.queue_depth=x0.5")["device"][0]["queue_depth"], 16)
        self.assertEqual(len(tiny(sets=["matrix.policy=bounded"]).cells), 2)
        self.assertEqual(len(tiny(sets=['matrix.iodepth=[1, 2, 4]']).cells), 12)
        self.assertEqual(len(tiny(sets=['matrix.device.0.units=[1, 2]']).cells), 8)

    def test_set_multiplies_what_the_file_has(self):
        text = TINY.replace('type = "ufs"', 'type = "ufs"\nservice_read_ns = 100_000')
        self.assertEqual(tiny(text, ["device.0.service_read_ns=x1.1"])
                         .config["device"][0]["service_read_ns"], 110000)

    def test_full_is_used_only_when_asked_for(self):
        text = TINY + "[full]\nworkload.runtime = 30\nmatrix.numjobs = [8]\n"
        self.assertNotIn("runtime", tiny(text).config["workload"])
        full = tiny(text, ["workload.full=true"])
        self.assertEqual(full.config["workload"]["runtime"], 30)
        self.assertEqual([cell.params["numjobs"] for cell in full.cells], [8, 8])
        both = tiny(text, ["workload.full=true", "workload.runtime=5"])
        self.assertEqual(both.config["workload"]["runtime"], 5)

    def test_variants_set_several_keys(self):
        text = TINY.replace("numjobs = [1, 2]", """variant = ["old", "new"]
[variant.old]
"device.0.units" = 2
[variant.new]
workload.numjobs = 3
iodepth = 4
device.0.units = 5
""")
        exp = tiny(text)
        self.assertEqual([cell.id for cell in exp.cells], [
            f"policy={policy},variant={variant}" for policy in ("hardirq", "bounded") for variant in ("old", "new")])
        old, new = (cell.config for cell in exp.cells[:2])
        self.assertEqual((old["device"][0]["units"], old["workload"].get("numjobs")), (2, None))
        self.assertEqual((new["device"][0]["units"], new["workload"]["numjobs"], new["workload"]["iodepth"]), (5, 3, 4))
        self.assertEqual(exp.config["variant"]["new"], {"workload.numjobs": 3, "iodepth": 4, "device.0.units": 5})
        self.assertEqual(len(tiny(text, ["matrix.variant=new"]).cells), 2)

    def test_two_axes_of_variants(self):
        exp = tiny(TINY.replace("numjobs = [1, 2]", """variant_load = ["one", "many"]
[variant.one]
numjobs = 1
[variant.many]
numjobs = 4
iodepth = 8
"""), ['table.rows="{variant_load} jobs"'])
        self.assertEqual([cell.id for cell in exp.cells[:2]], ["policy=hardirq,variant_load=one",
                                                               "policy=hardirq,variant_load=many"])

    def test_variant_with_the_stock_driver(self):
        text = TINY.replace('policy = ["hardirq", "bounded"]', """variant = ["stock", "ours"]
[variant.stock]
module = "stock"
[variant.ours]
policy = "hardirq"
[matrix.x]""").replace("[matrix.x]\nnumjobs = [1, 2]\n", "")
        exp = tiny(text)
        self.assertEqual([len(boot.cells) for boot in plan.make_boots(exp.cells)], [1, 1])

    def test_every_experiment_loads(self):
        done = irqbed("list")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^ufs-bounded-hardirq +12 cells  UFS")

    def test_published_figures_have_cells(self):
        exp = experiment.load("ufs-bounded-hardirq")
        self.assertEqual(len(exp.published), 72)
        self.assertIn(("read/8", "iops_avg", "threaded", 13325.59), exp.published)


class Load(unittest.TestCase):
    def test_all_of_fio_keeps_to_its_cpus(self):
        """Its helper thread, which takes the IOPS samples, once starved on the interrupt's CPU."""
        cell = experiment.load("ufs-bounded-hardirq").cells[0]
        self.assertEqual(plan.load_argv(cell.config)[:4], ["taskset", "-c", "1-7", "fio"])


class FioOptions(unittest.TestCase):
    def check(self, name, value):
        return fio_options.check(fio_options.find(name), value)

    def test_what_fio_takes(self):
        for name, value in (("bs", "4k"), ("bs", "4k,8k"), ("bs", 4096), ("direct", True),
                            ("direct", 1), ("runtime", 2), ("runtime", "500ms"), ("size", "50%"),
                            ("percentile_list", "50:99.9"), ("rw", "randrw"), ("rwmixread", 70),
                            ("random_distribution", "zipf:1.2"), ("hipri", True),
                            ("continue_on_error", "io"), ("cpus_allowed", "0-3")):
            with self.subTest(name=name, value=value):
                self.assertEqual(self.check(name, value), value)

    def test_what_fio_refuses(self):
        for name, value in (("bs", "4x"), ("direct", 3), ("runtime", "x"), ("rw", "rnd"),
                            ("rwmixread", 101), ("iodepth", 0), ("iodepth", 1.5), ("bs", ""),
                            ("percentile_list", "a")):
            with self.subTest(name=name, value=value):
                self.assertRaises(fio_options.BadValue, self.check, name, value)

    def test_arguments(self):
        self.assertEqual(fio_options.argument("time_based", True), "--time_based=1")
        self.assertEqual(fio_options.argument("hugepage_size", "4m"), "--hugepage-size=4m")
        self.assertEqual(fio_options.argument("runtime", 2.0), "--runtime=2")
        self.assertEqual(fio_options.argument("runtime", 0.25), "--runtime=250000us")
        self.assertEqual(fio_options.argument("rwmixread", 70), "--rwmixread=70")


class Planning(unittest.TestCase):
    def test_one_boot_for_what_can_change_at_run_time(self):
        boots = plan.make_boots(tiny().cells)
        self.assertEqual([len(boot.cells) for boot in boots], [4])

    def test_other_boots_for_other_machines_and_devices(self):
        for axis in ("matrix.cpus=[1, 2]", "matrix.units=[1, 2]", "matrix.driver.irq_mode=['msi', "
                     "'intx']", "matrix.target=['disk', 'file']"):
            with self.subTest(axis):
                boots = plan.make_boots(tiny(sets=[axis, "workload.size=1m"]).cells)
                self.assertEqual([len(boot.cells) for boot in boots], [4, 4])

    def test_job_file(self):
        boot = plan.make_boots(tiny().cells)[0]
        steps = plan.make_job(boot).steps
        cells = [step[1] for step in steps if step[0] == "cell"]
        self.assertEqual(cells, [cell.id for cell in boot.cells])
        self.assertEqual(steps[-1], ("poweroff",))
        self.assertEqual(sum(step[0] == "end" for step in steps), 4)
        first = steps[[step[0] for step in steps].index("cell"):]
        kinds = [step[0] for step in first[:first.index(("end",)) + 1]]
        # Counters are reset after the driver is set and before fio, and read after it.
        self.assertLess(kinds.index("write"), kinds.index("stats"))
        self.assertLess(kinds.index("stats"), len(kinds) - 1 - kinds[::-1].index("stats"))
        self.assertEqual(kinds[-2:], ["dmesg", "end"])

    def test_fio_command(self):
        workload = tiny(sets=["workload.direct=true", "workload.iodepth=4"]).cells[1].config["workload"]
        argv = plan.fio_argv(workload, ["/dev/irqbed0l0"])
        for word in ("--rw=randread", "--bs=4k", "--numjobs=2", "--direct=1", "--iodepth=4",
                     "--filename=/dev/irqbed0l0", "--group_reporting=1", "--output-format=json"):
            self.assertIn(word, argv)
        self.assertFalse([word for word in argv if "repeats" in word or "target" in word])

    def test_who_polls(self):
        """Under polled, and only there, fio polls; its option comes after the engine that has it."""
        exp = tiny(TINY.replace('"bounded"]', '"polled"]').replace("numjobs = [1, 2]", ""),
                   ["workload.direct=true", "workload.ioengine=io_uring"])
        usual, polled = (plan.load_argv(cell.config) for cell in exp.cells)
        self.assertFalse([word for word in usual if "hipri" in word])
        self.assertLess(polled.index("--ioengine=io_uring"), polled.index("--hipri=1"))
        self.assertIs(exp.cells[1].config["workload"]["hipri"], True)

    def test_stock_driver_needs_no_debugfs(self):
        exp = tiny(TINY.replace('policy = ["hardirq", "bounded"]\n', ""), ["driver.module=stock"])
        text = plan.make_job(plan.make_boots(exp.cells)[0]).text()
        self.assertIn("modprobe ufshcd-pci", text)
        self.assertIn("/dev/sda", text)
        self.assertNotIn("debug", text)

    def test_jobs_of_their_own_on_each_disk(self):
        exp = tiny(TINY.replace("[workload]", "[[device.lu]]\n[[device.lu]]\n[workload]\ndisks = 2"))
        argv = plan.load_argv(exp.cells[0].config)
        self.assertEqual(argv[-4:], ["--name=irqbed0l0", "--filename=/dev/irqbed0l0",
                                     "--name=irqbed0l1", "--filename=/dev/irqbed0l1"])
        self.assertEqual(sum(word.startswith("--filename") for word in argv), 2)
        self.assertLess(argv.index("--rw=randread"), argv.index("--name=irqbed0l0"), "options are for all jobs")
        self.assertEqual(len(plan.make_boots(exp.cells)), 1)

    def test_dd(self):
        exp = tiny(TWO_AHCI)
        steps = plan.make_job(plan.make_boots(exp.cells)[0]).steps
        script = next(step for step in steps if step[:2] == ("exec", "dd0"))[-1]
        for disk in ("irqbed0l0", "irqbed0l1"):
            self.assertIn(f"dd if=/dev/{disk} of=/dev/null bs=1048576 count=4 &", script)
        before = steps[steps.index(next(step for step in steps if step[:2] == ("exec", "dd0"))) - 1]
        self.assertEqual(before, ("write", "/proc/sys/vm/drop_caches", "3"))
        warmup = next(step for step in steps if step[:2] == ("exec", "warmup"))[-1]
        self.assertIn("timeout 1 dd if=/dev/irqbed0l0", warmup)

    def test_ufs(self):
        text = TINY.replace('type = "ufs"', 'type = "ufs"\nservice_read_dist = "table"\n'
                            'service_read_table = [[50, 80000], [99.99, 400000]]\nhold_until = "lu-reset"\n'
                            '[[device.lu]]\n[[device.lu]]\nwrite_protect = "power-on"\nblock_bytes = 8192')
        argv = " ".join(vm.device_args(plan.make_boots(tiny(text).cells)[0].devices("RUN")))
        self.assertIn(",service-read-table=50.000000:80000,,99.990000:400000", argv)
        self.assertIn(",service-write-table=,", argv)
        self.assertIn(",hold-until=lu-reset", argv)
        self.assertIn(",lun=0,drive=ufs0lu0,block-bytes=4096,write-protect=off", argv)
        self.assertIn(",lun=1,drive=ufs0lu1,write-protect=power-on,block-bytes=8192", argv)

    def test_ahci(self):
        exp = tiny(TWO_AHCI)
        boot = plan.make_boots(exp.cells)[0]
        argv = " ".join(vm.device_args(boot.devices("RUN")))
        self.assertIn("-device irqbed-ahci,id=ahci0,addr=0x4,", argv)
        self.assertIn(",ports=2,", argv)
        self.assertIn(",ccc=on", argv)
        for port in (0, 1):
            self.assertIn(f"bus=ahci0.0,port={port},drive=ahci0lu{port}", argv)
        self.assertNotIn("ports", tiny().config["device"][0])
        ports = [cell.config["device"][0]["ports"] for cell in tiny(TWO_AHCI, ["matrix.ports=[2, 6]"]).cells]
        self.assertEqual(ports, [2, 2, 6, 6] if ports[0] == ports[1] else [2, 6, 2, 6])

    def test_stock_driver_of_each_type(self):
        text = TWO_AHCI.replace('policy = ["hardirq", "bounded"]', "irq_cpu = [0, 1]")
        exp = tiny(text, ["driver.module=stock"])
        job = plan.make_job(plan.make_boots(exp.cells)[0]).text()
        self.assertIn("modprobe sd_mod && modprobe ahci || exit 1", job)
        self.assertIn("[ ! -b /dev/sda ] || [ ! -b /dev/sdb ]", job)

    def test_probe(self):
        exp = tiny(sets=["probe.period_us=50", "machine.irq_cpu=2", "probe.jitter_us=3", "machine.seed=9"])
        self.assertEqual(exp.config["probe"], {"period_us": 50, "jitter_us": 3, "cpu": 2, "seed": 9})
        boot = plan.make_boots(exp.cells)[0]
        self.assertEqual(boot.extra(), ["-device", "irqbed-probe,id=irqbed-probe,addr=0x1e,"
                                        "period-ns=50000,jitter-ns=3000,cpu=2,seed=9"])
        self.assertIn("insmod\t/lib/irqbed/irqbed-probe.ko", plan.make_job(boot).text())
        axis = tiny(sets=["probe.cpu=1", "matrix.probe.period_us=[50, 100]"])
        self.assertEqual([len(boot.cells) for boot in plan.make_boots(axis.cells)], [4, 4])

    def test_no_probe(self):
        boot = plan.make_boots(tiny().cells)[0]
        self.assertEqual(boot.extra(), [])
        self.assertNotIn("probe", plan.make_job(boot).text())
        self.assertNotIn("probe", tiny().config)

    def test_iommu(self):
        boot = plan.make_boots(tiny(sets=["machine.iommu=intel"]).cells)[0]
        argv = vm.Vm(boot.machine, [], plan.make_job(boot), workdir="RUN").argv()
        self.assertLess(argv.index("intel-iommu,intremap=on"), argv.index("irqbed-ctl,addr=0x3,job=RUN/job,out=irqbed-out"))
        self.assertIn("intel_iommu=on iommu=pt", " ".join(argv))

    def test_qemu_gets_every_knob(self):
        exp = tiny(sets=["device.0.units=20", "device.0.irq_latency_ns=5000"])
        done = plan.make_boots(exp.cells)[0].devices("RUN")[0]
        self.assertEqual(done.knobs["units"], 20)
        self.assertEqual(done.knobs["irq_latency_ns"], 5000)
        self.assertEqual(done.lus[0].path, "RUN/ufs0lu0.img")


class DryRun(unittest.TestCase):
    def test_prints_the_command_and_the_job(self):
        done = irqbed("run", "ufs-bounded-hardirq", "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("-device irqbed-ufs,id=ufs0", done.stdout)
        self.assertIn("\tpolicy=threaded,rw=randwrite,numjobs=8\n", done.stdout)
        self.assertEqual(done.stderr, "")


    def test_every_experiment_in_both_sizes(self):
        names = [path.stem for path in sorted((experiment.paths.REPO / "experiments").glob("*.toml"))]
        self.assertIn("irq-flood", names)
        for name in names:
            quick, full = (irqbed("run", name, *more, "--dry-run")
                           for more in ((), ("--set", "workload.full=true")))
            with self.subTest(name):
                self.assertEqual((quick.returncode, quick.stderr), (0, ""))
                self.assertEqual((full.returncode, full.stderr), (0, ""))
                self.assertIn("# boot 1: ", full.stdout)
                self.assertNotEqual(quick.stdout, full.stdout, "the full size is another one")


class Toml(unittest.TestCase):
    def test_the_example_in_the_docs_is_good(self):
        page = (experiment.paths.REPO / "docs" / "experiments.md").read_text()
        example = page.split("```toml\n")[1].split("```")[0]
        exp = experiment.from_tables(tomllib.loads(example), "docs")
        self.assertEqual(len(exp.cells), 6)
