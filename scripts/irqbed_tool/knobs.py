# SPDX-License-Identifier: GPL-2.0-or-later
"""Every key of an experiment file but fio's own, each declared once.

A knob of a device is the QOM property of the same name with "-" for "_"; a
key of [driver] is the module parameter of the same name.
"""

from . import paths
from .keys import NONE, REQUIRED, Key

MAX_NS = 1_000_000_000_000
DISTRIBUTIONS = ("fixed", "uniform", "lognormal", "normal", "exponential", "table")
POLICIES = ("hardirq", "threaded", "bounded", "softirq", "inline", "irq_poll", "workqueue", "flood",
            "polled")
MODULES = ("irqbed", "stock")

EXPERIMENT = (
    Key("name", "str", "Name in lists and results; letters, digits and hyphens."),
    Key("title", "str", "One line: what is compared."),
    Key("source", "str", "Where the published figures come from.", ""),
)

MACHINE = (
    Key("cpus", "int", "Number of vCPUs.", 4, low=1, high=64),
    Key("memory", "int", "Guest memory.", 768, "MiB", 256, 65536),
    Key("kernel", "enum", "Guest kernel.", paths.DEFAULT_KERNEL, choices=paths.KERNELS),
    Key("clock", "enum", "virtual: reproducible; host: KVM or multi-threaded TCG, real time.",
        "virtual", choices=("virtual", "host")),
    Key("irq_cpu", "int", "vCPU that takes the devices' interrupts.", 0, high=63),
    Key("ns_per_insn", "numbers", "Virtual time per guest instruction, one number or one per vCPU.",
        1, "ns", 0.125, 1000),
    Key("quantum_ns", "int", "Slice of virtual time that the vCPUs take in turn; 0: the default.",
        0, "ns", 0, 1_000_000),
    Key("seed", "int", "Seed of QEMU's and, by default, the devices' generators.", 1),
    Key("iommu", "enum", "intel: with interrupt remapping, without which x86 kernels give a device one "
        "MSI message only; the data path stays as it is.", "none", choices=("none", "intel")),
    Key("kernel_args", "str", "Further words for the guest kernel's command line.", ""),
)


def _model(what, text):
    """The keys of one random duration: distribution, centre, spread, percentiles."""
    return (
        Key(f"{what}_dist", "enum", f"Distribution of {text}.", "fixed", choices=DISTRIBUTIONS),
        Key(f"{what}_ns", "int", f"{text.capitalize()}: the value (fixed), mean (uniform, normal, "
            "exponential) or median (lognormal).", 0, "ns", 0, MAX_NS),
        Key(f"{what}_spread_ns", "int", "Half width (uniform), or width of the bell (normal: sigma; "
            "lognormal: sigma = spread / median).", 0, "ns", 0, MAX_NS),
        Key(f"{what}_table", "points", "Percentiles (table), as a real device's log has them: "
            "[[50, 80000], [99.9, 2000000]].", [], "ns", 0, MAX_NS),
    )


def _per_kib(what, text):
    return (Key(f"{what}_ns_per_kib", "int", f"Added to {text}, per KiB of data.", 0, "ns", 0,
                MAX_NS),)


# What every controller has; the seed's default is [machine] seed.
CONTROLLER = (
    Key("queue_depth", "int", "Requests in the device at once; more than 32 with mcq only.", 32,
        low=1, high=255),
    Key("units", "int", "Parallel units; a read or write takes one of them, and waits until it is free.", 1,
        low=1, high=4096),
    Key("unit_choice", "enum", "Unit of a read or write: address: the one its address names; free: the one that is "
        "free first.", "address", choices=("address", "free")),
    Key("unit_stripe_bytes", "int", "By address: bytes that go to one unit before the next.", 4096,
        "bytes", 512, 1 << 40),
    Key("slow_unit", "int", "The unit that slow_unit_factor is about.", 0, low=0, high=4095),
    Key("slow_unit_factor", "int", "That unit's reads and writes take so many times as long.", 1, low=1,
        high=1000),
    *_model("service_read", "the service time of a read"),
    *_per_kib("service_read", "the service time of a read"),
    *_model("service_write", "the service time of a write"),
    *_per_kib("service_write", "the service time of a write"),
    Key("service_other_ns", "int", "Service time of flush, unmap and the rest.", 0, "ns", 0, MAX_NS),
    *_model("irq_latency", "the delay between a completion and its interrupt"),
    Key("irq_coalesce_count", "int", "Completions per interrupt; above 1 the timeout must be set.", 1,
        low=1, high=65535),
    Key("irq_coalesce_timeout_ns", "int", "Longest wait of a completion for others.", 0, "ns", 0,
        MAX_NS),
    Key("irq_trigger", "enum", "INTx stays up until: level: no enabled status is left; edge: the status "
        "is read, and comes again only by a new status.", "level", choices=("level", "edge")),
    Key("irq_drop_every", "int", "Every n-th completion raises no interrupt; 0: never.", 0),
    Key("hold_every", "int", "Every n-th request is never completed until a reset; 0: never.", 0),
    Key("fail_every", "int", "Every n-th read or write fails, the medium untouched; 0: never.", 0),
    Key("series_window_ns", "int", "Time series in the statistics: first length of a window; 0: none. "
        "[series] sets it.", 0, "ns", 0, MAX_NS),
    Key("seed", "int", "Seed of this controller's generators.", None),
)

DEVICE_TYPES = ("ufs", "ahci")
DEVICE = (
    Key("id", "str", "Name in results and traces; letters and digits."),
    Key("type", "enum", "Kind of controller.", choices=DEVICE_TYPES),
    Key("irq_mode", "enum", "How the device interrupts; msix: a vector for each queue of mcq.", "msi",
        choices=("msi", "intx", "msix")),
    Key("hold_until", "enum", "Gentlest thing that frees a request held by hold_every.", "abort",
        choices=("abort", "lu-reset", "host-reset"), only="ufs"),
    Key("link_error_every", "int", "After every n-th request the link reports an error that takes a reset; "
        "0: never.", 0, only="ufs"),
    Key("link_error_kind", "enum", "Which layer reports that error; pa-lane takes no reset.", "pa-init",
        choices=("pa-init", "pa-lane", "pa-generic", "dl-nac", "dl-replay", "network", "transport", "dme"),
        only="ufs"),
    Key("case_temperature", "int", "Degrees Celsius + 80, for exception events; 0: no sensor.", 0, low=0, high=250,
        only="ufs"),
    Key("unit_attention", "bool", "Units report power-on and resets as unit attention.", True, only="ufs"),
    Key("mcq", "bool", "UFSHCI 4.0 with submission and completion queues.", False, only="ufs"),
    Key("mcq_maxq", "int", "Queue pairs offered.", 8, low=1, high=32, only="ufs"),
    Key("ports", "int", "Ports; the disks are on the first ones.", 6, low=1, high=32, only="ahci"),
    Key("msi_vectors", "int", "Messages offered, a power of two; 0: enough for a vector per port.", 0,
        low=0, high=32, only="ahci"),
    Key("ccc", "bool", "Offers command completion coalescing.", True, only="ahci"),
)

# A disk of a controller.
LU = (
    Key("size_mib", "int", "Size of the private, empty image made for each run.", 64, "MiB", 1,
        1 << 20),
    Key("drive", "file", "Raw image to use instead; the run writes to it.", ""),
    Key("block_bytes", "int", "Logical block, a power of two; Linux takes 4096 only.", 4096, "bytes",
        4096, 65536, only="ufs"),
    Key("write_protect", "enum", "When nothing can be written; power-on: once the guest has set "
        "fPowerOnWPEn, until a reset.", "off", choices=("off", "power-on", "permanent"), only="ufs"),
)

DRIVER = (
    Key("module", "enum", "irqbed: our driver; stock: the kernel's own.", "irqbed",
        choices=MODULES),
    Key("policy", "enum", "Who finishes requests.", "bounded", choices=POLICIES),
    Key("time_limit_ns", "limit", "bounded: time after which the hard interrupt hands over.", 20000,
        "ns", 0, MAX_NS),
    Key("max_completions", "limit", "bounded: completions after which the hard interrupt hands "
        "over.", NONE, low=0, high=2 ** 31 - 1),
    Key("thread_cpus", "enum", "Where the interrupt's thread runs: on the interrupt's CPU, as the "
        "kernel has it, or on any.", "irq", choices=("irq", "any")),
    Key("poll_weight", "int", "irq_poll: completions of a call, then it is the next vector's turn.",
        64, low=1, high=65536),
    Key("poll_budget", "limit", "irq_poll: completions after which the softirq ends, to come back.",
        256, low=1, high=2 ** 31 - 1),
    Key("poll_time_ns", "limit", "irq_poll: time after which the softirq ends, to come back.", NONE,
        "ns", 1, MAX_NS),
    Key("work_kind", "enum", "workqueue: on the interrupt's CPU, anywhere, or there and before other "
        "work.", "bound", choices=("bound", "unbound", "highpri")),
    Key("flood_window_ns", "int", "flood: a CPU's share of time in interrupts is taken over so long.",
        1_000_000, "ns", 1000, 1_000_000_000),
    Key("flood_enter_pct", "int", "flood: share from which on a CPU is flooded; 101: never.", 80, "%",
        0, 101),
    Key("flood_leave_pct", "int", "flood: share below which it no longer is.", 20, "%", 0, 101),
    Key("flood_rest", "enum", "flood: who finishes requests then.", "irq_poll",
        choices=("threaded", "irq_poll", "workqueue")),
    Key("tag_sharing", "enum", "Disks that share slots: each active one its share, or first come, first "
        "served.", "fair", choices=("fair", "greedy")),
    Key("wluns", "int", "1: request queues for the well-known units, too, for TEST UNIT READY.", 0, low=0,
        high=1),
    Key("hw_queues", "int", "UFS with queues (device mcq): pairs used; 0: one for each vCPU; at most what the "
        "device offers.", 0, low=0, high=8),
    Key("queue_depth", "int", "Slots used; 0: what the device offers.", 0, low=0, high=32),
    Key("timeout_ms", "int", "Age at which a request is looked at, then reset.", 30000, "ms", 1,
        3_600_000),
    Key("max_retries", "int", "How often a request is sent again after a reset or a busy device.",
        5, low=0, high=100),
    Key("irq_mode", "enum", "Interrupts the driver asks for.", "msi", choices=("msi", "intx")),
    Key("irq_vectors", "enum", "Vectors the driver asks for, where the device has several: shared: "
        "one for all queues; per_queue: one for each.", "shared", choices=("shared", "per_queue")),
    Key("lock", "enum", "What protects command state: host: one lock for all queues of a controller; "
        "port: one for each.", "port", choices=("host", "port")),
    Key("lock_stats", "enum", "Measure how long locks are waited for and held.", "off",
        choices=("off", "on")),
    Key("series_window_ns", "int", "Time series in the statistics: first length of a window; 0: none. "
        "[series] sets it.", 0, "ns", 0, MAX_NS),
    Key("keep_status", "enum", "Fault: the driver never clears the interrupt status.", "off",
        choices=("off", "on")),
)

# One PCI function that interrupts a vCPU and measures the answer.
PROBE = (
    Key("period_us", "int", "Time between two interrupts.", 100, "us", 1, 1_000_000_000),
    Key("jitter_us", "int", "Each comes up to so much earlier or later; below half of the period.", 0,
        "us", 0, 500_000_000),
    Key("cpu", "int", "vCPU that is interrupted.", None, high=63),
    Key("seed", "int", "Seed of the jitter.", None),
)
# What a key without a default of its own takes.
TAKEN_FROM = {"seed": "machine.seed", "cpu": "machine.irq_cpu"}

# A time series of the devices and of our driver, for each cell.
SERIES = (
    Key("window_us", "number", "First length of a window; when a run has more than 256 of them, neighbours "
        "become one and it doubles. 0: no series. Without this key: a hundredth of the load's runtime if there "
        "is an [[inject]], else 0.", 0, "us", 0, MAX_NS // 1000),
)

# Of every disk's request queue, written to /sys/block/DISK/queue before each cell.
BLOCK = (
    Key("rq_affinity", "int", "Where the block layer finishes a request: 0: where the driver did; "
        "1: there too, if that shares a cache with the submitting CPU; 2: on the submitting CPU.",
        1, low=0, high=2),
    Key("scheduler", "enum", "I/O scheduler; default: the kernel's choice.", "default",
        choices=("default", "none", "mq-deadline")),
)

# Of [driver], what can be changed while the module is loaded (debugfs).
DRIVER_LIVE = ("policy", "time_limit_ns", "max_completions", "thread_cpus", "poll_weight", "poll_budget",
               "poll_time_ns", "work_kind", "flood_window_ns", "flood_enter_pct", "flood_leave_pct",
               "flood_rest", "tag_sharing", "lock", "lock_stats", "series_window_ns", "keep_status")

WORKLOAD = (
    Key("tool", "enum", "Program that makes the load.", "fio", choices=("fio", "dd")),
    Key("disks", "int", "The load goes to the first n disks at once, with jobs of its own on each.",
        1, low=1, high=1024),
    Key("target", "enum", "disk: the first disk itself; file: a file on an ext2 file system "
        "made on it; raid0: an array over the first n disks.", "disk", choices=("disk", "file", "raid0")),
    Key("raid_chunk_kib", "int", "Chunk of the raid0.", 1024, "KiB", 4, 1 << 20),
    Key("with", "str", "The [beside.NAME] that runs beside this load.", ""),
    Key("settle", "bool", "After a cell's load wait until no disk counts as active among those that share "
        "tags; how long that took is tags_reserved_ms.", False),
    Key("repeats", "int", "Runs per cell; metrics are their mean.", 1, low=1, high=100),
    Key("warmup", "number", "Load before the first cell of a boot, discarded.", 1, "s of guest time",
        0, 3600),
    Key("limit", "number", "Guest time after which one run is ended; 0: four times its "
        "runtime and a minute.", 0, "s of guest time", 0, 1_000_000),
    Key("full", "bool", "Use the values of [full]: the experiment at its published size.", False),
)

# What runs beside the load; every other key is an option of fio, by default the load's.
BESIDE = (
    Key("disks", "ints", "Disks, counted from 0, with a job on each; empty: no job.", [], high=1023),
    Key("test_unit_ready", "ints", "Units of the first controller that are sent one TEST UNIT READY just "
        "before the load, well-known ones too (49488, 49456, 49476).", [], high=65535),
)

TABLE = (
    Key("columns", "str", "Axis of the matrix that makes the columns; default: the first.", ""),
    Key("rows", "str", "How a row is called, with {axis} for an axis' value.", ""),
    Key("metrics", "texts", "Metrics shown, in this order.",
        ["iops_min", "iops_max", "iops_avg", "cpu_usr_pct", "cpu_sys_pct", "bw_bytes_per_s"]),
    Key("pareto", "texts", "Two or more metrics: below the table stand, for each of its rows, the columns "
        "that no other column beats in all of them.", []),
    Key("notes", "texts", "Lines below the table: how it is to be read.", []),
)

PUBLISHED = (
    Key("source", "str", "Citation."),
    Key("columns", "texts", "Values of the column axis, in the order of the figures."),
)

CHECK = (
    Key("io_errors", "enum", "Whether a cell in which fio saw I/O errors can pass; wrong data never does.", "none",
        choices=("none", "allowed")),
    Key("sanity", "bool", "A measured row with min > avg, avg > max, or bandwidth that is not "
        "IOPS x block size is a failure.", True),
)

RATIO = (
    Key("row", "str", "Row of the table, with its metric, as printed."),
    Key("column", "str", "Column whose figure is looked at, by its value of the axis."),
    Key("base", "str", "Column that it is divided by; without it the figure itself is looked at, in the unit "
        "that the table prints.", ""),
    Key("low", "number", "Least ratio, or figure, that is good.", 0.0, low=0.0, high=1e9),
    Key("high", "number", "Greatest ratio, or figure, that is good.", 1e9, low=0.0, high=1e9),
)

# Faults of docs/inject.md, and the only type of device that can do one; hw/core/inject_parse.c has the same.
FAULTS = {"hold": "", "status": "", "dma-refused": "", "data-late": "", "complete-twice": "", "irq-lost": "",
          "irq-late": "", "irq-double": "", "irq-spurious": "", "irq-stuck": "", "irq-no-source": "ahci",
          "link-down": "", "remove": "", "link-command-late": "ufs", "link-command-fail": "ufs"}
FAULTS_WITH_TIME = ("data-late", "irq-late", "link-command-late")
FAULT_STATUSES = {
    "ufs": ("ocs-command-table", "ocs-prdt", "ocs-data-size", "ocs-response-size", "ocs-peer-failure",
            "ocs-aborted", "ocs-fatal", "ocs-device-fatal", "ocs-crypto-config", "ocs-crypto", "not-ready",
            "medium-error", "hardware-error", "illegal-request", "unit-attention", "data-protect",
            "aborted-command", "busy", "task-set-full"),
    "ahci": ("abrt", "unc", "idnf", "icrc", "ifs", "ofs", "hbfs", "hbds"),
}
# Of [[device]], what an injection can change: numbers and words that do not size anything.
INJECT_KNOBS = tuple(key.name for key in CONTROLLER if key.kind != "points" and key.name != "queue_depth")
MAX_AT_NS = 31_536_000 * 1_000_000_000

# None: not given. The keys are the device's, with "_" for "-".
INJECT = (
    Key("id", "str", "Name in results and plots, at most 31 characters."),
    Key("device", "names", "Ids of the devices that do it; empty: the first.", []),
    Key("enabled", "bool", "false: as if the entry were not there.", True),
    Key("at_ns", "int", "So long after the cell's begin.", None, "ns", 0, MAX_AT_NS),
    Key("period_ns", "int", "With at_ns: and again whenever this is over.", None, "ns", 100, MAX_NS),
    Key("after", "int", "At the n-th request.", None, low=1, high=2 ** 62 - 1),
    Key("every", "int", "At every n-th request.", None, low=1, high=2 ** 62 - 1),
    Key("chance_ppm", "int", "At each request by chance, from the device's seed.", None, "millionths", 1, 1_000_000),
    Key("count", "int", "Most often; without it there is no limit.", None, low=1),
    Key("on", "enum", "Which requests count.", None, choices=("any", "read", "write", "other")),
    Key("knob", "enum", "Key of [[device]] that changes.", None, choices=INJECT_KNOBS),
    Key("value", "value", "Its new value.", None),
    Key("ramp_ns", "int", "It goes there in so long, in 100 steps.", None, "ns", 0, MAX_NS),
    Key("for_ns", "int", "Knob: it goes back after so long. Fault: see inject.md.", None, "ns", 1, MAX_NS),
    Key("fault", "enum", "Fault that is done.", None, choices=tuple(FAULTS)),
    Key("status", "str", "With fault = status: the error, see inject.md.", None),
    Key("target", "int", "Port or vector that the fault is about.", None, low=0, high=31),
)

# Section name in the file, its keys, and what to call it.
SECTIONS = {
    "experiment": (EXPERIMENT, "[experiment]"),
    "machine": (MACHINE, "[machine]"),
    "device": (DEVICE + CONTROLLER, "[[device]]"),
    "lu": (LU, "[[device.lu]]"),
    "driver": (DRIVER, "[driver]"),
    "probe": (PROBE, "[probe]"),
    "block": (BLOCK, "[block]"),
    "series": (SERIES, "[series]"),
    "workload": (WORKLOAD, "[workload]"),
    "beside": (BESIDE, "[beside.NAME]"),
    "table": (TABLE, "[table]"),
    "published": (PUBLISHED, "[published]"),
    "check": (CHECK, "[check]"),
    "ratio": (RATIO, "[[check.ratio]]"),
    "inject": (INJECT, "[[inject]]"),
}


def table(section):
    """{key name: Key} of a section."""
    return {key.name: key for key in SECTIONS[section][0]}


def defaults(section):
    """{key name: default} of the keys that have one."""
    return {key.name: key.default for key in SECTIONS[section][0] if key.default is not REQUIRED}
