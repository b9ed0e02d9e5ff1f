/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One trace event for each stage of a request, all with the correlators dev,
 * q, tag and seq; seq is the number of the doorbell, which the device counts
 * too.  An event about no single request has tag -1 and the latest seq.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM irqbed

#if !defined(IRQBED_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define IRQBED_TRACE_H

#include <linux/tracepoint.h>

#include "irqbed.h"

TRACE_DEFINE_ENUM(IRQBED_CTX_HARD);
TRACE_DEFINE_ENUM(IRQBED_CTX_SOFTIRQ);
TRACE_DEFINE_ENUM(IRQBED_CTX_THREAD);
TRACE_DEFINE_ENUM(IRQBED_CTX_WORK);
TRACE_DEFINE_ENUM(IRQBED_CTX_BLOCK);
TRACE_DEFINE_ENUM(IRQBED_CTX_POLLED);
TRACE_DEFINE_ENUM(IRQBED_CTX_TIMEOUT);
TRACE_DEFINE_ENUM(IRQBED_CTX_RESET);
TRACE_DEFINE_ENUM(IRQBED_REASON_NONE);
TRACE_DEFINE_ENUM(IRQBED_REASON_POLICY);
TRACE_DEFINE_ENUM(IRQBED_REASON_TIME);
TRACE_DEFINE_ENUM(IRQBED_REASON_COUNT);
TRACE_DEFINE_ENUM(IRQBED_REASON_FLOOD);

#define irqbed_show_ctx(ctx)					\
	__print_symbolic(ctx,					\
			 { IRQBED_CTX_HARD, "hard" },		\
			 { IRQBED_CTX_SOFTIRQ, "softirq" },	\
			 { IRQBED_CTX_THREAD, "thread" },	\
			 { IRQBED_CTX_WORK, "work" },		\
			 { IRQBED_CTX_BLOCK, "block" },		\
			 { IRQBED_CTX_POLLED, "polled" },	\
			 { IRQBED_CTX_TIMEOUT, "timeout" },	\
			 { IRQBED_CTX_RESET, "reset" })

#define irqbed_show_reason(reason)				\
	__print_symbolic(reason,				\
			 { IRQBED_REASON_NONE, "none" },	\
			 { IRQBED_REASON_POLICY, "policy" },	\
			 { IRQBED_REASON_TIME, "time" },	\
			 { IRQBED_REASON_COUNT, "count" },	\
			 { IRQBED_REASON_FLOOD, "flood" })

/* G1: the doorbell of a request is about to ring. */
TRACE_EVENT(irqbed_submit,
	    TP_PROTO(const struct irqbed_queue *q, const struct request *rq,
		     const struct irqbed_cmd *cmd),
	    TP_ARGS(q, rq, cmd),
	    TP_STRUCT__entry(__string(dev, pci_name(q->ctrl->pdev))
			     __field(u32, q)
			     __field(int, tag)
			     __field(u64, seq)
			     __field(u32, lun)
			     __field(u32, op)
			     __field(u64, sector)
			     __field(u32, bytes)
			     __field(u32, retries)),
	    TP_fast_assign(__assign_str(dev);
			   __entry->q = q->index;
			   __entry->tag = rq->tag;
			   __entry->seq = cmd->seq;
			   __entry->lun = cmd->lun;
			   __entry->op = (__force u32)req_op(rq);
			   __entry->sector = blk_rq_pos(rq);
			   __entry->bytes = blk_rq_bytes(rq);
			   __entry->retries = cmd->retries;),
	    TP_printk("dev=%s q=%u tag=%d seq=%llu lun=%u op=%u sector=%llu bytes=%u retries=%u",
		      __get_str(dev), __entry->q, __entry->tag, __entry->seq,
		      __entry->lun, __entry->op, __entry->sector,
		      __entry->bytes, __entry->retries)
);

/*
 * A pass over a vector's queues: what it did, how long it took, why it stopped.
 * Its q is the vector; its seq the first of these queues'.
 */
DECLARE_EVENT_CLASS(irqbed_pass,
		    TP_PROTO(const struct irqbed_vector *vec,
			     const struct irqbed_reap_result *res, u64 ns),
		    TP_ARGS(vec, res, ns),
		    TP_STRUCT__entry(__string(dev, pci_name(vec->ctrl->pdev))
				     __field(u32, q)
				     __field(u64, seq)
				     __field(u32, done)
				     __field(u32, left)
				     __field(u32, reason)
				     __field(u64, ns)),
		    TP_fast_assign(__assign_str(dev);
				   __entry->q = vec->index;
				   __entry->seq = irqbed_vector_seq(vec);
				   __entry->done = res->done;
				   __entry->left = res->left;
				   __entry->reason = res->reason;
				   __entry->ns = ns;),
		    TP_printk("dev=%s q=%u tag=-1 seq=%llu done=%u left=%x reason=%s ns=%llu",
			      __get_str(dev), __entry->q, __entry->seq,
			      __entry->done, __entry->left,
			      irqbed_show_reason(__entry->reason), __entry->ns)
);

/* G2: the hard handler is through. */
DEFINE_EVENT(irqbed_pass, irqbed_hardirq,
	     TP_PROTO(const struct irqbed_vector *vec,
		      const struct irqbed_reap_result *res, u64 ns),
	     TP_ARGS(vec, res, ns)
);

/* G3: the hard handler leaves the rest to somebody else. */
DEFINE_EVENT(irqbed_pass, irqbed_handover,
	     TP_PROTO(const struct irqbed_vector *vec,
		      const struct irqbed_reap_result *res, u64 ns),
	     TP_ARGS(vec, res, ns)
);

/* G3: a call of irq_poll is through. */
DEFINE_EVENT(irqbed_pass, irqbed_softirq,
	     TP_PROTO(const struct irqbed_vector *vec,
		      const struct irqbed_reap_result *res, u64 ns),
	     TP_ARGS(vec, res, ns)
);

/* G3: the work item is through. */
DEFINE_EVENT(irqbed_pass, irqbed_work,
	     TP_PROTO(const struct irqbed_vector *vec,
		      const struct irqbed_reap_result *res, u64 ns),
	     TP_ARGS(vec, res, ns)
);

/* G3: the thread is through. */
DEFINE_EVENT(irqbed_pass, irqbed_thread,
	     TP_PROTO(const struct irqbed_vector *vec,
		      const struct irqbed_reap_result *res, u64 ns),
	     TP_ARGS(vec, res, ns)
);

/* G3: who polled has found something. */
DEFINE_EVENT(irqbed_pass, irqbed_polled,
	     TP_PROTO(const struct irqbed_vector *vec,
		      const struct irqbed_reap_result *res, u64 ns),
	     TP_ARGS(vec, res, ns)
);

/* G4: the block layer gets a request back (err 0, or -errno). */
TRACE_EVENT(irqbed_end,
	    TP_PROTO(const struct irqbed_queue *q, const struct irqbed_cmd *cmd,
		     u32 tag, blk_status_t status, enum irqbed_ctx ctx),
	    TP_ARGS(q, cmd, tag, status, ctx),
	    TP_STRUCT__entry(__string(dev, pci_name(q->ctrl->pdev))
			     __field(u32, q)
			     __field(int, tag)
			     __field(u64, seq)
			     __field(int, err)
			     __field(u32, ctx)),
	    TP_fast_assign(__assign_str(dev);
			   __entry->q = q->index;
			   __entry->tag = tag;
			   __entry->seq = cmd->seq;
			   __entry->err = blk_status_to_errno(status);
			   __entry->ctx = ctx;),
	    TP_printk("dev=%s q=%u tag=%d seq=%llu err=%d ctx=%s",
		      __get_str(dev), __entry->q, __entry->tag, __entry->seq, __entry->err,
		      irqbed_show_ctx(__entry->ctx))
);

/* Something that cannot happen did; it is counted as "unexpected" too. */
TRACE_EVENT(irqbed_err_unexpected,
	    TP_PROTO(const struct irqbed_queue *q, u32 tag, u64 seq,
		     const char *what),
	    TP_ARGS(q, tag, seq, what),
	    TP_STRUCT__entry(__string(dev, pci_name(q->ctrl->pdev))
			     __string(what, what)
			     __field(u32, q)
			     __field(int, tag)
			     __field(u64, seq)),
	    TP_fast_assign(__assign_str(dev);
			   __assign_str(what);
			   __entry->q = q->index;
			   __entry->tag = tag;
			   __entry->seq = seq;),
	    TP_printk("dev=%s q=%u tag=%d seq=%llu %s", __get_str(dev),
		      __entry->q, __entry->tag, __entry->seq, __get_str(what))
);

#endif /* IRQBED_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
