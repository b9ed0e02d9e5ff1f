/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The knobs: their values, what a controller's configuration consists of, and what
 * is known of each.  They are declared in params.c, and only there.
 */
#ifndef IRQBED_CONFIG_H
#define IRQBED_CONFIG_H

#include <linux/build_bug.h>
#include <linux/types.h>

#include "policy.h"

enum irqbed_irq_mode {
	IRQBED_IRQ_MSI,
	IRQBED_IRQ_INTX,
};

/* What protects command state. */
enum irqbed_lock_scope {
	IRQBED_LOCK_HOST,	/* one lock for the controller */
	IRQBED_LOCK_PORT,	/* one for each queue */
};

/* How many vectors are asked for, where there can be several. */
enum irqbed_vectors {
	IRQBED_VECTORS_SHARED,
	IRQBED_VECTORS_PER_QUEUE,
};

/* Where the interrupt's thread may run. */
enum irqbed_thread_cpus {
	IRQBED_THREAD_CPUS_IRQ,	/* on the interrupt's CPU, as the kernel has it */
	IRQBED_THREAD_CPUS_ANY,
};

enum irqbed_work_kind {
	IRQBED_WORK_BOUND,	/* on the CPU that queued it */
	IRQBED_WORK_UNBOUND,
	IRQBED_WORK_HIGHPRI,	/* bound, and before other work */
	IRQBED_NR_WORK_KINDS
};

/* Who gets a tag when several disks want one. */
enum irqbed_tag_sharing {
	IRQBED_TAGS_FAIR,	/* blk-mq's way: each active disk its share */
	IRQBED_TAGS_GREEDY,	/* whoever comes first */
};

/* The value of a knob that is set to "none". */
#define IRQBED_NONE		U64_MAX

static_assert(IRQBED_NONE == IRQBED_UNLIMITED_NS);
static_assert(IRQBED_NONE == IRQBED_UNLIMITED_CNT);

/* One u64 for each knob of params.c, under the knob's name. */
struct irqbed_config {
	u64 policy;
	u64 time_limit_ns;
	u64 max_completions;
	u64 thread_cpus;
	u64 poll_weight;
	u64 poll_budget;
	u64 poll_time_ns;
	u64 work_kind;
	u64 flood_window_ns;
	u64 flood_enter_pct;
	u64 flood_leave_pct;
	u64 flood_rest;
	u64 tag_sharing;
	u64 wluns;
	u64 hw_queues;
	u64 queue_depth;
	u64 timeout_ms;
	u64 max_retries;
	u64 irq_mode;
	u64 irq_vectors;
	u64 lock;
	u64 lock_stats;
	u64 series_window_ns;
	u64 keep_status;
};

/**
 * struct irqbed_knob - what a knob is
 * @name: of the module parameter and the debugfs file
 * @words: the values' names, for an enumeration; else NULL
 * @least: least value
 * @greatest: greatest value
 * @none: "none" is allowed too, and means "no limit"
 * @live: can be changed while the module is loaded (drains first)
 * @initial: the default, as a user would write it
 * @offset: of the value in struct irqbed_config
 */
struct irqbed_knob {
	const char *name;
	const char *const *words;
	u64 least;
	u64 greatest;
	bool none;
	bool live;
	const char *initial;
	size_t offset;
};

extern const char *const irqbed_work_kind_words[];
extern const char *const irqbed_irq_mode_words[];
extern const char *const irqbed_vectors_words[];
extern const char *const irqbed_lock_words[];
extern const char *const irqbed_switch_words[];
extern const struct irqbed_knob *const irqbed_knobs[];
extern const u32 irqbed_nr_knobs;
extern struct irqbed_config irqbed_default_config;

int irqbed_knob_parse(const struct irqbed_knob *knob, const char *text,
		      u64 *val);
int irqbed_knob_print(const struct irqbed_knob *knob,
		      const struct irqbed_config *config, char *buf,
		      size_t size);
u64 *irqbed_knob_val(const struct irqbed_knob *knob,
		     struct irqbed_config *config);
int irqbed_params_init(void);

#endif /* IRQBED_CONFIG_H */
