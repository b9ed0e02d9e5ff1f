// SPDX-License-Identifier: GPL-2.0-only
/*
 * Knobs: reading, checking and printing what knobs.h declares, and the module
 * parameters made from it, which are every controller's starting values.
 */
#include <linux/module.h>

#include "irqbed.h"

const char *const irqbed_policy_words[] = {
	[IRQBED_POLICY_HARDIRQ] = "hardirq",
	[IRQBED_POLICY_THREADED] = "threaded",
	[IRQBED_POLICY_BOUNDED] = "bounded",
};

static_assert(ARRAY_SIZE(irqbed_policy_words) == IRQBED_NR_POLICIES);

const char *const irqbed_irq_mode_words[] = {
	[IRQBED_IRQ_MSI] = "msi",
	[IRQBED_IRQ_INTX] = "intx",
};

/* The parameters, until irqbed_params_init() checked them all: just text. */
struct irqbed_config irqbed_default_config;

enum irqbed_knob_id {
#define KNOB(name, ...) IRQBED_KNOB_##name,
#include "knobs.h"
#undef KNOB
};

const struct irqbed_knob irqbed_knobs[] = {
#define KNOB(name_, words_, least_, greatest_, none_, live_, default_, ...) \
	{								\
		.name = #name_, .words = words_,			\
		.least = least_, .greatest = greatest_,			\
		.none = none_, .live = live_, .initial = default_,	\
		.offset = offsetof(struct irqbed_config, name_),	\
	},
#include "knobs.h"
#undef KNOB
};

const u32 irqbed_nr_knobs = ARRAY_SIZE(irqbed_knobs);

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

static bool irqbed_knob_given[ARRAY_SIZE(irqbed_knobs)];

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
	irqbed_knob_given[knob - irqbed_knobs] = true;
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

#define KNOB(name, words, least, greatest, none, live, def, unit, text)	\
	module_param_cb(name, &irqbed_param_ops,			\
			(void *)&irqbed_knobs[IRQBED_KNOB_##name], 0444); \
	MODULE_PARM_DESC(name, text " [" unit ", " #least " to " #greatest \
			 ", none allowed: " #none ", default " def "]");
#include "knobs.h"
#undef KNOB

/**
 * irqbed_params_init() - give the parameters that were not set their defaults
 *
 * Return: 0, or -errno when the table itself is wrong.
 */
int irqbed_params_init(void)
{
	struct irqbed_config *config = &irqbed_default_config;

	for (u32 i = 0; i < irqbed_nr_knobs; i++) {
		const struct irqbed_knob *knob = &irqbed_knobs[i];
		int err;

		if (irqbed_knob_given[i])
			continue;
		err = irqbed_knob_parse(knob, knob->initial,
					irqbed_knob_val(knob, config));
		if (WARN_ON_ONCE(err))
			return err;
	}
	return 0;
}
