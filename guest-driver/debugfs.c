// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/irqbed/PCI-ADDRESS/: statistics, and the knobs by name.
 *
 * Process context.  What changes the queue's ways first drains it: all queues
 * of the controller are frozen, so no request sees two policies.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "irqbed.h"
#include "trend.h"

static struct dentry *irqbed_debugfs_root;

/*
 * Nothing in flight, and the handlers are through with what was.  It does not
 * take somebody who polls: he may wait for us.
 */
static void irqbed_drain(struct irqbed_ctrl *ctrl)
{
	irqbed_irqs_need(ctrl);
	irqbed_freeze(ctrl);
	irqbed_irq_sync(ctrl);
}

static void irqbed_go_on(struct irqbed_ctrl *ctrl)
{
	irqbed_irqs_unneed(ctrl);
	irqbed_unfreeze(ctrl);
}

static const struct irqbed_knob *irqbed_knob_of(const struct file *file)
{
	const char *name = file_dentry(file)->d_name.name;

	for (u32 i = 0; i < irqbed_nr_knobs; i++) {
		if (!strcmp(irqbed_knobs[i]->name, name))
			return irqbed_knobs[i];
	}
	return NULL;
}

static ssize_t irqbed_knob_read(struct file *file, char __user *buf,
				size_t size, loff_t *pos)
{
	struct irqbed_ctrl *ctrl = file_inode(file)->i_private;
	char text[32];
	int len;

	len = irqbed_knob_print(irqbed_knob_of(file), &ctrl->config, text,
				sizeof(text) - 1);
	text[len++] = '\n';
	return simple_read_from_buffer(buf, size, pos, text, len);
}

static ssize_t irqbed_knob_write(struct file *file, const char __user *buf,
				 size_t size, loff_t *pos)
{
	struct irqbed_ctrl *ctrl = file_inode(file)->i_private;
	const struct irqbed_knob *knob = irqbed_knob_of(file);
	char text[32];
	ssize_t len;
	int err;
	u64 val;

	if (*pos || size >= sizeof(text))
		return -EINVAL;
	len = simple_write_to_buffer(text, sizeof(text) - 1, pos, buf, size);
	if (len < 0)
		return len;
	text[len] = '\0';
	err = irqbed_knob_parse(knob, text, &val);
	if (err)
		return err;
	if (irqbed_knob_val(knob, &ctrl->config) == &ctrl->config.tag_sharing)
		err = irqbed_tags_check(ctrl, val);
	if (err)
		return err;
	mutex_lock(&ctrl->config_mutex);
	if (irqbed_knob_val(knob, &ctrl->config) ==
	    &ctrl->config.series_window_ns) {
		err = irqbed_series_prepare(ctrl, val);
		if (err) {
			mutex_unlock(&ctrl->config_mutex);
			return err;
		}
	}
	irqbed_drain(ctrl);
	/* A reset, too, sees one value; so does a handler that came for nothing. */
	mutex_lock(&ctrl->recover_mutex);
	WRITE_ONCE(*irqbed_knob_val(knob, &ctrl->config), val);
	irqbed_irq_sync(ctrl);
	if (irqbed_knob_val(knob, &ctrl->config) ==
	    &ctrl->config.series_window_ns)
		irqbed_series_reset(ctrl);
	mutex_unlock(&ctrl->recover_mutex);
	irqbed_tags_remap(ctrl);
	irqbed_tags_share(ctrl);
	irqbed_go_on(ctrl);
	mutex_unlock(&ctrl->config_mutex);
	return len;
}

static const struct file_operations irqbed_live_knob_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = irqbed_knob_read,
	.write = irqbed_knob_write,
	.llseek = default_llseek,
};

static const struct file_operations irqbed_fixed_knob_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = irqbed_knob_read,
	.llseek = default_llseek,
};

static int stats_show(struct seq_file *m, void *unused)
{
	struct irqbed_ctrl *ctrl = m->private;

	return irqbed_stats_print(ctrl, m);
}
DEFINE_SHOW_ATTRIBUTE(stats);

static int tag_users_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "%u\n", irqbed_tag_users(m->private));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(tag_users);

static int version_show(struct seq_file *m, void *unused)
{
	seq_puts(m, "irqbed-driver/" IRQBED_VERSION "\n");
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(version);

static ssize_t reset_stats_write(struct file *file, const char __user *buf,
				 size_t size, loff_t *pos)
{
	struct irqbed_ctrl *ctrl = file_inode(file)->i_private;

	mutex_lock(&ctrl->config_mutex);
	irqbed_drain(ctrl);
	irqbed_stats_reset(ctrl);
	irqbed_go_on(ctrl);
	mutex_unlock(&ctrl->config_mutex);
	return size;
}

static const struct file_operations reset_stats_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = reset_stats_write,
	.llseek = noop_llseek,
};

static ssize_t test_unit_ready_write(struct file *file, const char __user *buf,
				     size_t size, loff_t *pos)
{
	struct irqbed_ctrl *ctrl = file_inode(file)->i_private;
	u32 number;
	int err = kstrtou32_from_user(buf, size, 0, &number);

	if (err)
		return err;
	mutex_lock(&ctrl->config_mutex);
	err = irqbed_test_unit_ready(ctrl, number);
	mutex_unlock(&ctrl->config_mutex);
	return err ?: size;
}

static const struct file_operations test_unit_ready_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = test_unit_ready_write,
	.llseek = noop_llseek,
};

static const struct {
	const char *name;
	umode_t mode;
	const struct file_operations *fops;
} irqbed_files[] = {
	{ "stats", 0444, &stats_fops },
	{ "reset_stats", 0200, &reset_stats_fops },
	{ "tag_users", 0444, &tag_users_fops },
	{ "version", 0444, &version_fops },
	{ "test_unit_ready", 0200, &test_unit_ready_fops },
};

/**
 * irqbed_debugfs_add() - make a controller's directory
 * @ctrl: the controller, its disks published
 */
void irqbed_debugfs_add(struct irqbed_ctrl *ctrl)
{
	ctrl->debugfs = debugfs_create_dir(pci_name(ctrl->pdev),
					   irqbed_debugfs_root);
	for (u32 i = 0; i < ARRAY_SIZE(irqbed_files); i++)
		debugfs_create_file(irqbed_files[i].name, irqbed_files[i].mode,
				    ctrl->debugfs, ctrl, irqbed_files[i].fops);
	for (u32 i = 0; i < irqbed_nr_knobs; i++) {
		bool live = irqbed_knobs[i]->live;

		debugfs_create_file(irqbed_knobs[i]->name, live ? 0644 : 0444,
				    ctrl->debugfs, ctrl, live ?
				    &irqbed_live_knob_fops :
				    &irqbed_fixed_knob_fops);
	}
}

/**
 * irqbed_debugfs_remove() - take a controller's directory away
 * @ctrl: the controller; waits until nobody is in one of its files
 */
void irqbed_debugfs_remove(struct irqbed_ctrl *ctrl)
{
	debugfs_remove_recursive(ctrl->debugfs);
}

/**
 * irqbed_debugfs_init() - make the module's directory
 */
void irqbed_debugfs_init(void)
{
	irqbed_debugfs_root = debugfs_create_dir("irqbed", NULL);
}

/**
 * irqbed_debugfs_exit() - take it away
 */
void irqbed_debugfs_exit(void)
{
	debugfs_remove_recursive(irqbed_debugfs_root);
}
