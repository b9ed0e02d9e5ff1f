// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rest: what the hard interrupt leaves is ended by the interrupt's thread,
 * by irq_poll in a softirq, or by a work item.
 *
 * Stage G3.  Who it is, is the policy's matter (policy.c); all of them do it
 * with irqbed_reap().
 *
 * Theorem of the hand-over: whatever a hard handler left is in the ready maps
 * or finished in the hardware, and its queue in the vector's map of queues
 * left, before it asked for somebody else.  The kernel runs a thread, or a work
 * item, at least once from its beginning after being asked, also when it is
 * running just then; so no further interrupt is needed.  irq_poll forgets a
 * request that comes while it is scheduled, therefore the vector stays masked
 * from the hand-over until it is through.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irq_poll.h>
#include <linux/sched/clock.h>

#include "irqbed.h"
#include "trace.h"

/* What irq_poll is told about a call: more to do, and, no more this time. */
#define IRQBED_POLL_MORE	1
#define IRQBED_POLL_PAUSE	S32_MAX

static struct workqueue_struct *irqbed_wqs[IRQBED_NR_WORK_KINDS];
static DEFINE_PER_CPU(struct irqbed_flood, irqbed_flood);

static bool irqbed_watches_flood(const struct irqbed_ctrl *ctrl)
{
	return irqbed_policies[ctrl->config.policy].flood;
}

static bool irqbed_flood_step(const struct irqbed_ctrl *ctrl, u64 now_ns,
			      u64 busy_ns)
{
	const struct irqbed_flood_limits limits = {
		.window_ns = ctrl->config.flood_window_ns,
		.enter_pct = ctrl->config.flood_enter_pct,
		.leave_pct = ctrl->config.flood_leave_pct,
	};
	unsigned long flags;
	bool flooded;

	local_irq_save(flags);
	flooded = irqbed_flood_account(this_cpu_ptr(&irqbed_flood), &limits,
				       now_ns, busy_ns);
	local_irq_restore(flags);
	return flooded;
}

/**
 * irqbed_cpu_is_flooded() - does this CPU spend too much time in interrupts?
 * @ctrl: the controller, whose limits count
 * @now_ns: the time
 *
 * Hard interrupt.
 *
 * Return: true for the flood policy, when it does.
 */
bool irqbed_cpu_is_flooded(const struct irqbed_ctrl *ctrl, u64 now_ns)
{
	return irqbed_watches_flood(ctrl) && irqbed_flood_step(ctrl, now_ns, 0);
}

/**
 * irqbed_account() - a pass is through: count its time
 * @vec: the vector
 * @ctx: whose pass
 * @start_ns: when it began
 *
 * Return: how long it took.
 */
u64 irqbed_account(struct irqbed_vector *vec, enum irqbed_ctx ctx, u64 start_ns)
{
	u64 now_ns = local_clock();
	u64 ns = now_ns - start_ns;

	irqbed_hist_add(&vec->stats.ns[ctx], ns);
	this_cpu_add(vec->ctrl->cpu_times->ns[ctx], ns);
	if (irqbed_watches_flood(vec->ctrl) &&
	    (ctx == IRQBED_CTX_HARD || ctx == IRQBED_CTX_SOFTIRQ))
		irqbed_flood_step(vec->ctrl, now_ns, ns);
	return ns;
}

static enum irqbed_rest irqbed_rest_of(const struct irqbed_config *config)
{
	const struct irqbed_policy_desc *desc = &irqbed_policies[config->policy];

	return desc->flood ? config->flood_rest : desc->rest;
}

/*
 * With a level-triggered line the interrupt is masked in the controller from
 * the hand-over until the rest is through: a request that finishes in between
 * leaves its status set and the line rises at the unmasking.  With messages a
 * thread or a work item gains nothing from it: a message that comes while it
 * runs finds its own hard interrupt, and the kernel runs it again when that
 * one hands over too.
 */
static bool irqbed_masks_for(const struct irqbed_ctrl *ctrl,
			     enum irqbed_rest rest)
{
	return ctrl->irq_mode == IRQBED_IRQ_INTX || rest == IRQBED_REST_POLL;
}

/**
 * irqbed_leave() - the hard interrupt leaves queues to the rest
 * @vec: the vector
 * @queues: map of the queues
 */
void irqbed_leave(struct irqbed_vector *vec, u32 queues)
{
	atomic64_cmpxchg(&vec->left_ns, 0, local_clock());
	atomic_or(queues, &vec->left);
}

/*
 * Take over what was left, and note how long it has waited.  The time comes
 * first: of a hard interrupt that comes in between, the queues may be taken
 * too early but its time is there for the pass that it asks for.
 */
static u32 irqbed_take_left(struct irqbed_vector *vec)
{
	struct irqbed_irq_stats *stats = &vec->stats;
	u64 left_ns = atomic64_xchg(&vec->left_ns, 0);
	u64 now_ns = local_clock();

	if (left_ns && now_ns >= left_ns) {
		if (now_ns - left_ns >=
		    stats->longest_seen_ns - stats->longest_left_ns) {
			stats->longest_left_ns = left_ns;
			stats->longest_seen_ns = now_ns;
		}
		irqbed_hist_add(&stats->wait_ns, now_ns - left_ns);
	}
	return atomic_xchg(&vec->left, 0);
}

/**
 * irqbed_hand_over() - the hard interrupt leaves something
 * @vec: the vector; the queues are in its map of those left
 *
 * Return: what the hard handler has to return.
 */
irqreturn_t irqbed_hand_over(struct irqbed_vector *vec)
{
	struct irqbed_ctrl *ctrl = vec->ctrl;
	enum irqbed_rest rest = irqbed_rest_of(&ctrl->config);

	if (irqbed_masks_for(ctrl, rest))
		irqbed_vector_mask(vec, true);
	switch (rest) {
	case IRQBED_REST_POLL:
		vec->stats.polls++;
		irq_poll_sched(&vec->poll);
		return IRQ_HANDLED;
	case IRQBED_REST_WORK:
		queue_work(irqbed_wqs[ctrl->config.work_kind], &vec->work);
		return IRQ_HANDLED;
	case IRQBED_REST_THREAD:
	default:
		return IRQ_WAKE_THREAD;
	}
}

/* One pass of the thread or the work item: everything that was left. */
static void irqbed_rest_pass(struct irqbed_vector *vec, enum irqbed_rest rest,
			     enum irqbed_ctx ctx)
{
	struct irqbed_ctrl *ctrl = vec->ctrl;
	u64 start_ns = local_clock();
	struct irqbed_reap_result res;
	u64 ns;

	res = irqbed_reap(ctrl, irqbed_take_left(vec),
			  &irqbed_budget_unlimited, ctx, start_ns);
	if (irqbed_masks_for(ctrl, rest))
		irqbed_vector_mask(vec, false);
	ns = irqbed_account(vec, ctx, start_ns);
	if (ctx == IRQBED_CTX_THREAD)
		trace_irqbed_thread(vec, &res, ns);
	else
		trace_irqbed_work(vec, &res, ns);
}

/*
 * The kernel confines an interrupt's thread to the interrupt's CPU, again
 * whenever that changes; so this is looked at in each pass.  The interrupt's own
 * mask may change at any time, which the scheduler does not bear: it is asked
 * for a CPU.  Nor does it bear a thread that wants to a CPU that is about to go
 * (RT warns of it), as the interrupt's may be: it stays where it is meanwhile.
 */
static void irqbed_thread_place(const struct irqbed_vector *vec)
{
	struct irq_data *data = irq_get_irq_data(vec->irq);
	const struct cpumask *want = cpu_possible_mask;
	unsigned int cpu;

	if (vec->ctrl->config.thread_cpus == IRQBED_THREAD_CPUS_IRQ) {
		cpu = cpumask_first(irq_data_get_effective_affinity_mask(data));
		if (cpu >= nr_cpu_ids)
			return;
		want = cpumask_of(cpu);
	}
	if (cpumask_equal(current->cpus_ptr, want) || !cpus_read_trylock())
		return;
	set_cpus_allowed_ptr(current, want);
	cpus_read_unlock();
}

/**
 * irqbed_irq_thread() - the interrupt's thread
 * @irq: its number
 * @data: the vector
 *
 * Return: IRQ_HANDLED.
 */
irqreturn_t irqbed_irq_thread(int irq, void *data)
{
	struct irqbed_vector *vec = data;

	irqbed_thread_place(vec);
	irqbed_rest_pass(vec, IRQBED_REST_THREAD, IRQBED_CTX_THREAD);
	return IRQ_HANDLED;
}

static void irqbed_rest_work(struct work_struct *work)
{
	irqbed_rest_pass(container_of(work, struct irqbed_vector, work),
			 IRQBED_REST_WORK, IRQBED_CTX_WORK);
}

/* The vector is quiet: let it interrupt again, which may schedule us anew. */
static void irqbed_poll_rearm(struct irqbed_vector *vec)
{
	vec->round.open = false;
	irq_poll_complete(&vec->poll);
	irqbed_vector_mask(vec, false);
}

/*
 * One call of irq_poll: poll_weight requests, then it is the next vector's turn
 * on this CPU.  irq_poll's own weight is 1 for each call, so that its budget of
 * 256 counts calls, and the softirq's end is ours to choose: poll_budget and
 * poll_time_ns.  (It ends at the second tick anyway.)
 *
 * The status is acknowledged before the look, as in the hard interrupt and for
 * its reason: what finishes after the look interrupts at the unmasking.
 */
static int irqbed_poll_pass(struct irqbed_vector *vec)
{
	struct irqbed_ctrl *ctrl = vec->ctrl;
	const struct irqbed_config *config = &ctrl->config;
	u64 start_ns = local_clock();
	struct irqbed_budget budget;
	struct irqbed_reap_result res;
	struct irqbed_events events;
	enum irqbed_reason pause;
	u64 ns;

	budget = irqbed_round_budget(&vec->round, config->poll_weight,
				     config->poll_budget, config->poll_time_ns,
				     start_ns);
	events = irqbed_ack(vec);
	if (events.stuck)
		irqbed_recover_schedule(ctrl, events.stuck);
	res = irqbed_reap(ctrl, events.done | irqbed_take_left(vec),
			  &budget, IRQBED_CTX_SOFTIRQ, vec->round.start_ns);
	atomic_or(res.left, &vec->left);
	pause = irqbed_round_account(&vec->round, res.done, config->poll_budget,
				     config->poll_time_ns, local_clock());
	vec->stats.poll_calls++;
	vec->stats.poll_done += res.done;
	if (res.left && pause)
		vec->stats.poll_pauses[pause]++;
	ns = irqbed_account(vec, IRQBED_CTX_SOFTIRQ, start_ns);
	trace_irqbed_softirq(vec, &res, ns);
	if (!res.left) {
		irqbed_poll_rearm(vec);
		return 0;
	}
	return pause ? IRQBED_POLL_PAUSE : IRQBED_POLL_MORE;
}

static int irqbed_poll(struct irq_poll *iop, int weight)
{
	struct irqbed_vector *vec = container_of(iop, struct irqbed_vector,
						 poll);
	int ret;

	atomic_inc(&vec->polling);
	ret = irqbed_poll_pass(vec);
	atomic_dec_return_release(&vec->polling);
	return ret;
}

/**
 * irqbed_rest_init() - make a vector's irq_poll and its work item
 * @vec: the vector
 */
void irqbed_rest_init(struct irqbed_vector *vec)
{
	irq_poll_init(&vec->poll, IRQBED_POLL_MORE, irqbed_poll);
	INIT_WORK(&vec->work, irqbed_rest_work);
}

/**
 * irqbed_rest_sync() - wait until irq_poll and the work item are through
 * @vec: the vector
 *
 * Not irq_poll_disable(): what it keeps from being scheduled is lost, and the
 * vector would stay masked.  The bit is cleared a little before the last call
 * is through.
 */
void irqbed_rest_sync(struct irqbed_vector *vec)
{
	while (test_bit_acquire(IRQ_POLL_F_SCHED, &vec->poll.state) ||
	       atomic_read_acquire(&vec->polling))
		usleep_range(50, 100);
	flush_work(&vec->work);
}

/**
 * irqbed_rest_module_init() - get the module's workqueues
 *
 * Return: 0 or -ENOMEM.
 */
int irqbed_rest_module_init(void)
{
	static const unsigned int flags[] = {
		[IRQBED_WORK_BOUND] = WQ_MEM_RECLAIM,
		[IRQBED_WORK_UNBOUND] = WQ_MEM_RECLAIM | WQ_UNBOUND,
		[IRQBED_WORK_HIGHPRI] = WQ_MEM_RECLAIM | WQ_HIGHPRI,
	};

	for (u32 i = 0; i < IRQBED_NR_WORK_KINDS; i++) {
		irqbed_wqs[i] = alloc_workqueue("irqbed_%s", flags[i], 0,
						irqbed_work_kind_words[i]);
		if (!irqbed_wqs[i]) {
			irqbed_rest_module_exit();
			return -ENOMEM;
		}
	}
	return 0;
}

/**
 * irqbed_rest_module_exit() - give them back
 */
void irqbed_rest_module_exit(void)
{
	for (u32 i = 0; i < IRQBED_NR_WORK_KINDS; i++) {
		if (irqbed_wqs[i])
			destroy_workqueue(irqbed_wqs[i]);
	}
}
