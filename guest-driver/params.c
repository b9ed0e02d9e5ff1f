// SPDX-License-Identifier: GPL-2.0-only
/*
 * Knobs: what they are, how they are read, checked and printed, and the module
 * parameters made from them, which are every controller's starting values.
 * debugfs.c makes its files out of the same table.
 */
#include <linux/module.h>

#include "irqbed.h"

const char *const irqbed_irq_mode_words[] = {
	[IRQBED_IRQ_MSI] = "msi",
	[IRQBED_IRQ_INTX] = "intx",
};

const char *const irqbed_vectors_words[] = {
	[IRQBED_VECTORS_SHARED] = "shared",
	[IRQBED_VECTORS_PER_QUEUE] = "per_queue",
};

const char *const irqbed_lock_words[] = {
	[IRQBED_LOCK_HOST] = "host",
	[IRQBED_LOCK_PORT] = "port",
};

const char *const irqbed_switch_words[] = { "off", "on" };

static const char *const irqbed_thread_cpus_words[] = {
	[IRQBED_THREAD_CPUS_IRQ] = "irq",
	[IRQBED_THREAD_CPUS_ANY] = "any",
};

const char *const irqbed_work_kind_words[] = {
	[IRQBED_WORK_BOUND] = "bound",
	[IRQBED_WORK_UNBOUND] = "unbound",
	[IRQBED_WORK_HIGHPRI] = "highpri",
};

static const char *const irqbed_flood_rest_words[] = {
	[IRQBED_REST_THREAD] = "threaded",
	[IRQBED_REST_POLL] = "irq_poll",
	[IRQBED_REST_WORK] = "workqueue",
};

static const char *const irqbed_tag_sharing_words[] = {
	[IRQBED_TAGS_FAIR] = "fair",
	[IRQBED_TAGS_GREEDY] = "greedy",
};

/* What new controllers start with. */
struct irqbed_config irqbed_default_config;

/* Which of them were given as parameters: a bit for each value. */
static unsigned long irqbed_given;

static unsigned long irqbed_knob_bit(const struct irqbed_knob *knob)
{
	return BIT(knob->offset / sizeof(u64));
}

/**
 * irqbed_knob_val() - a knob's place in a configuration
 * @knob: the knob
 * @config: the configuration
 *
 * Return: pointer to the value.
 */
u64 *irqbed_knob_val(const struct irqbed_knob *knob,
		     struct irqbed_config *config)
{
	return (u64 *)((char *)config + knob->offset);
}

static int irqbed_word_parse(const struct irqbed_knob *knob, const char *text,
			     u64 *val)
{
	for (u64 i = knob->least; i <= knob->greatest; i++) {
		if (sysfs_streq(text, knob->words[i])) {
			*val = i;
			return 0;
		}
	}
	return -EINVAL;
}

/**
 * irqbed_knob_parse() - read and check a knob's value
 * @knob: the knob
 * @text: what the user wrote; a newline at the end is allowed
 * @val: the value, when it is good
 *
 * Return: 0, -EINVAL for nonsense, -ERANGE for a number out of range.
 */
int irqbed_knob_parse(const struct irqbed_knob *knob, const char *text,
		      u64 *val)
{
	u64 num;

	if (knob->words)
		return irqbed_word_parse(knob, text, val);
	if (knob->none && sysfs_streq(text, "none")) {
		*val = IRQBED_NONE;
		return 0;
	}
	if (kstrtou64(text, 0, &num))
		return -EINVAL;
	if (num < knob->least || num > knob->greatest)
		return -ERANGE;
	*val = num;
	return 0;
}

/**
 * irqbed_knob_print() - a knob's value the way it is written
 * @knob: the knob
 * @config: the configuration that holds it
 * @buf: where to
 * @size: of @buf
 *
 * Return: the length of the text.
 */
int irqbed_knob_print(const struct irqbed_knob *knob,
		      const struct irqbed_config *config, char *buf,
		      size_t size)
{
	u64 val = *irqbed_knob_val(knob, (struct irqbed_config *)config);

	if (knob->words)
		return scnprintf(buf, size, "%s", knob->words[val]);
	if (knob->none && val == IRQBED_NONE)
		return scnprintf(buf, size, "none");
	return scnprintf(buf, size, "%llu", val);
}

static int irqbed_param_set(const char *text, const struct kernel_param *kp)
{
	const struct irqbed_knob *knob = kp->arg;
	int err;

	if (!text)
		return -EINVAL;
	err = irqbed_knob_parse(knob, text,
				irqbed_knob_val(knob, &irqbed_default_config));
	if (err) {
		pr_err("irqbed: parameter %s: \"%s\" is not allowed, see modinfo\n",
		       knob->name, text);
		return err;
	}
	irqbed_given |= irqbed_knob_bit(knob);
	return 0;
}

static int irqbed_param_get(char *buf, const struct kernel_param *kp)
{
	int len = irqbed_knob_print(kp->arg, &irqbed_default_config, buf,
				    PAGE_SIZE - 1);

	buf[len++] = '\n';
	return len;
}

static const struct kernel_param_ops irqbed_param_ops = {
	.set = irqbed_param_set,
	.get = irqbed_param_get,
};

/* A knob, and what modinfo says about it; default_ as a user would write it. */
#define IRQBED_KNOB(name_, words_, least_, greatest_, none_, live_,	\
		    default_, unit_, text_)				\
	static const struct irqbed_knob irqbed_knob_##name_ = {		\
		.name = #name_,						\
		.words = words_,					\
		.least = (least_),					\
		.greatest = (greatest_),				\
		.none = (none_),					\
		.live = (live_),					\
		.initial = #default_,					\
		.offset = offsetof(struct irqbed_config, name_),	\
	};								\
	MODULE_INFO(parm, #name_ ":" text_ " [" unit_ ", " #least_	\
		    " to " #greatest_ ", \"none\": " #none_		\
		    ", default " #default_ "]")

#define IRQBED_PARAM(name_)						\
	module_param_cb(name_, &irqbed_param_ops,			\
			(void *)&irqbed_knob_##name_, 0444)

/* Each knob is declared here, and only here. */
IRQBED_KNOB(policy, irqbed_policy_words, 0, 8, false, true, bounded, "word",
	    "who finishes requests: hardirq, threaded, bounded, softirq, inline, irq_poll, workqueue, flood or polled");
IRQBED_KNOB(time_limit_ns, NULL, 0, 1000000000000, true, true, 20000, "ns",
	    "bounded: time after which the hard interrupt hands over, 0 is at once");
IRQBED_KNOB(max_completions, NULL, 0, 2147483647, true, true, none, "requests",
	    "bounded: requests after which the hard interrupt hands over, 0 is at once");
IRQBED_KNOB(thread_cpus, irqbed_thread_cpus_words, 0, 1, false, true, irq, "word",
	    "where the interrupt's thread runs: on the interrupt's CPU (irq) or any");
IRQBED_KNOB(poll_weight, NULL, 1, 65536, false, true, 64, "requests",
	    "irq_poll: requests of a call, then it is the next vector's turn");
IRQBED_KNOB(poll_budget, NULL, 1, 2147483647, true, true, 256, "requests",
	    "irq_poll: requests after which the softirq ends, to come back");
IRQBED_KNOB(poll_time_ns, NULL, 1, 1000000000000, true, true, none, "ns",
	    "irq_poll: time after which the softirq ends, to come back");
IRQBED_KNOB(work_kind, irqbed_work_kind_words, 0, 2, false, true, bound, "word",
	    "workqueue: bound, unbound or highpri");
IRQBED_KNOB(flood_window_ns, NULL, 1000, 1000000000, false, true, 1000000, "ns",
	    "flood: a CPU's share of time in interrupts is taken over so long");
IRQBED_KNOB(flood_enter_pct, NULL, 0, 101, false, true, 80, "percent",
	    "flood: share from which on a CPU is flooded, 101 is never");
IRQBED_KNOB(flood_leave_pct, NULL, 0, 101, false, true, 20, "percent",
	    "flood: share below which it no longer is");
IRQBED_KNOB(flood_rest, irqbed_flood_rest_words, 0, 2, false, true, irq_poll, "word",
	    "flood: who finishes requests then: threaded, irq_poll or workqueue");
IRQBED_KNOB(tag_sharing, irqbed_tag_sharing_words, 0, 1, false, true, fair, "word",
	    "disks that share slots: each active one its share (fair), or first come (greedy)");
IRQBED_KNOB(wluns, NULL, 0, 1, false, false, 0, "switch",
	    "request queues for the well-known units, too, for TEST UNIT READY");
IRQBED_KNOB(hw_queues, NULL, 0, 8, false, false, 0, "queues",
	    "UFS with queues: pairs used, 0 is one for each CPU, at most what the device offers");
IRQBED_KNOB(queue_depth, NULL, 0, 32, false, false, 0, "requests",
	    "slots used, 0 is what the device offers");
IRQBED_KNOB(timeout_ms, NULL, 1, 3600000, false, false, 30000, "ms",
	    "age at which a request is looked for, then the controller reset");
IRQBED_KNOB(max_retries, NULL, 0, 100, false, false, 5, "times",
	    "how often a request is sent again after a reset or a busy device");
IRQBED_KNOB(irq_mode, irqbed_irq_mode_words, 0, 1, false, false, msi, "word",
	    "interrupt asked for: msi or intx");
IRQBED_KNOB(irq_vectors, irqbed_vectors_words, 0, 1, false, false, shared, "word",
	    "interrupt vectors asked for: shared, one for all queues; per_queue, one for each");
IRQBED_KNOB(lock, irqbed_lock_words, 0, 1, false, true, port, "word",
	    "what protects command state: host, one lock for all queues; port, one for each");
IRQBED_KNOB(lock_stats, irqbed_switch_words, 0, 1, false, true, off, "word",
	    "measure how long locks are waited for and held: off or on");
IRQBED_KNOB(series_window_ns, NULL, 0, 1000000000000, false, true, 0, "ns",
	    "time series in the statistics: first length of a window, 0 is none");
IRQBED_KNOB(keep_status, irqbed_switch_words, 0, 1, false, true, off, "word",
	    "fault: never clear the interrupt status: off or on");

IRQBED_PARAM(policy);
IRQBED_PARAM(time_limit_ns);
IRQBED_PARAM(max_completions);
IRQBED_PARAM(thread_cpus);
IRQBED_PARAM(poll_weight);
IRQBED_PARAM(poll_budget);
IRQBED_PARAM(poll_time_ns);
IRQBED_PARAM(work_kind);
IRQBED_PARAM(flood_window_ns);
IRQBED_PARAM(flood_enter_pct);
IRQBED_PARAM(flood_leave_pct);
IRQBED_PARAM(flood_rest);
IRQBED_PARAM(tag_sharing);
IRQBED_PARAM(wluns);
IRQBED_PARAM(hw_queues);
IRQBED_PARAM(queue_depth);
IRQBED_PARAM(timeout_ms);
IRQBED_PARAM(max_retries);
IRQBED_PARAM(irq_mode);
IRQBED_PARAM(irq_vectors);
IRQBED_PARAM(lock);
IRQBED_PARAM(lock_stats);
IRQBED_PARAM(series_window_ns);
IRQBED_PARAM(keep_status);

const struct irqbed_knob *const irqbed_knobs[] = {
	&irqbed_knob_policy,
	&irqbed_knob_time_limit_ns,
	&irqbed_knob_max_completions,
	&irqbed_knob_thread_cpus,
	&irqbed_knob_poll_weight,
	&irqbed_knob_poll_budget,
	&irqbed_knob_poll_time_ns,
	&irqbed_knob_work_kind,
	&irqbed_knob_flood_window_ns,
	&irqbed_knob_flood_enter_pct,
	&irqbed_knob_flood_leave_pct,
	&irqbed_knob_flood_rest,
	&irqbed_knob_tag_sharing,
	&irqbed_knob_wluns,
	&irqbed_knob_hw_queues,
	&irqbed_knob_queue_depth,
	&irqbed_knob_timeout_ms,
	&irqbed_knob_max_retries,
	&irqbed_knob_irq_mode,
	&irqbed_knob_irq_vectors,
	&irqbed_knob_lock,
	&irqbed_knob_lock_stats,
	&irqbed_knob_series_window_ns,
	&irqbed_knob_keep_status,
};

const u32 irqbed_nr_knobs = ARRAY_SIZE(irqbed_knobs);
static_assert(sizeof(struct irqbed_config) ==
	      ARRAY_SIZE(irqbed_knobs) * sizeof(u64));

/**
 * irqbed_params_init() - give the parameters that were not set their defaults
 *
 * Return: 0, or -errno when the table itself is wrong.
 */
int irqbed_params_init(void)
{
	struct irqbed_config *config = &irqbed_default_config;

	for (u32 i = 0; i < irqbed_nr_knobs; i++) {
		const struct irqbed_knob *knob = irqbed_knobs[i];
		int err;

		if (irqbed_given & irqbed_knob_bit(knob))
			continue;
		err = irqbed_knob_parse(knob, knob->initial,
					irqbed_knob_val(knob, config));
		if (WARN_ON_ONCE(err))
			return err;
	}
	return 0;
}
