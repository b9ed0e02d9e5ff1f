/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every knob of the driver, each declared once.
 *
 * KNOB(name, words, least, greatest, none, live, default, unit, text)
 *
 *   words:   the names of an enumeration, or NULL for a number
 *   none:    "none" is allowed too, and means "no limit"
 *   live:    can be changed while the module is loaded (debugfs; drains first)
 *   default: as a user would write it
 *
 * params.c makes the module parameters, irqbed.h struct irqbed_config, and
 * debugfs.c the files out of this list; no include guard, it is read often.
 */
KNOB(policy, irqbed_policy_words, 0, 2, false, true, "bounded", "word",
     "who finishes requests: hardirq, threaded or bounded")
KNOB(time_limit_ns, NULL, 0, 1000000000000, true, true, "20000", "ns",
     "bounded: time after which the hard interrupt hands over; 0 is at once")
KNOB(max_completions, NULL, 0, 2147483647, true, true, "none", "requests",
     "bounded: requests after which the hard interrupt hands over; 0 is at once")
KNOB(queue_depth, NULL, 0, 32, false, false, "0", "requests",
     "slots used; 0 is what the device offers")
KNOB(timeout_ms, NULL, 1, 3600000, false, false, "30000", "ms",
     "age at which a request is looked for, then the controller reset")
KNOB(max_retries, NULL, 0, 100, false, false, "5", "times",
     "how often a request is sent again after a reset or a busy device")
KNOB(irq_mode, irqbed_irq_mode_words, 0, 1, false, false, "msi", "word",
     "interrupt asked for: msi or intx")
