# SPDX-License-Identifier: GPL-2.0-or-later
"""irqbed bench: what it says and how its ratios are made; no VM."""

import unittest

from irqbed_tool import bench_clock, bench_peers
from support import irqbed

# Host seconds for a virtual second, and for a unit of work.
COSTS = {"parallel": (1.0, 0.5), "icount": (4.0, 1.0), "mttcg": (2.0, 0.25)}


class Command(unittest.TestCase):
    def test_unknown_benchmark_is_one_line_and_status_2(self):
        done = irqbed("bench", "clocks")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("bench clocks: no such benchmark; there are clock", done.stderr)

    def test_help_lists_the_benchmarks(self):
        done = irqbed("bench", "--help")
        self.assertEqual(done.returncode, 0, done.stderr)
        for module in bench_clock, bench_peers:
            self.assertIn(module.SUMMARY, done.stdout)


class Clock(unittest.TestCase):
    def test_keys_and_ratios(self):
        ratios, info = {}, {}
        costs = {kind: {job: cost for job in bench_clock.JOBS} for kind, cost in COSTS.items()}
        for cpus in bench_clock.CPUS:
            bench_clock.compare(cpus, costs, ratios, info)
        keys = {f"wall_vs_icount_{cpus}cpu_{job}" for cpus in (1, 4, 8) for job in ("qd1", "qd32", "spin")}
        self.assertEqual(set(ratios), keys)
        self.assertEqual(set(ratios.values()), {0.25})
        self.assertEqual(info["wall_per_io_vs_icount_4cpu_jobs"], 0.5)
        self.assertEqual(info["wall_per_work_vs_mttcg_8cpu_qd1"], 2.0)


class Peers(unittest.TestCase):
    COSTS = {"ours": (10, 30), "ours_mcq": (10, 30), "ours_stock": (40, 60), "qemu_ufs": (50, 50),
             "qemu_nvme": (20, 20), "null_blk": (10, 20)}

    def setUp(self):
        self.costs = {name: dict(zip(bench_peers.DEPTHS, pair)) for name, pair in self.COSTS.items()}

    def rounds(self, *factors):
        """What the pairs cost in rounds: all as in COSTS, the first of each pair times a factor."""
        return [[{mine: self.both({depth: cost * factor for depth, cost in self.costs[mine].items()}),
                  theirs: self.both(self.costs[theirs])} for factor in factors] for mine, theirs in bench_peers.PAIRS]

    @staticmethod
    def both(costs):
        """The main loop's thread uses what is a tenth of the whole at depth 1, and a fifth of it beyond."""
        return {"cpu_ns": costs, "thread_ns": {1: costs[1] / 10, 32: costs[32] / 5}}

    def test_the_worse_depth_counts(self):
        result = bench_peers.compare(self.costs, self.rounds(1))
        self.assertEqual(result["ratios"], {
            "device_cpu_vs_qemu_ufs": 1.2, "device_cpu_vs_qemu_nvme": 1.5,
            "device_thread_vs_qemu_ufs": 1.2, "device_thread_vs_qemu_nvme": 1.5, "all_insns_vs_stock_ufs": 0.5,
            "driver_insns_vs_null_blk": 1.5, "driver_insns_vs_stock_ufs": 0.25})
        self.assertEqual(result["info"]["driver_insns_vs_null_blk_qd1"], 1.0)
        self.assertEqual(result["info"]["driver_insns_vs_stock_ufs_qd1"], 0.0)
        self.assertEqual(result["info"]["ours_cpu_ns_qd32"], 30)
        self.assertEqual(result["info"]["ours_thread_ns_qd32"], 6)

    def test_the_median_of_the_rounds_counts(self):
        result = bench_peers.compare(self.costs, self.rounds(1, 9, 0.5))
        self.assertEqual(result["ratios"]["device_cpu_vs_qemu_ufs"], 1.2)
        self.assertEqual(result["info"]["device_cpu_vs_qemu_ufs_qd32_least"], 0.6)
        self.assertEqual(result["info"]["device_cpu_vs_qemu_ufs_qd32_most"], 10.8)


if __name__ == "__main__":
    unittest.main()
