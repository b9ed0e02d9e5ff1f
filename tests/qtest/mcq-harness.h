/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * On top of ufs-harness.h: submission and completion queues, and MSI-X.
 */

#ifndef IRQBED_MCQ_HARNESS_H
#define IRQBED_MCQ_HARNESS_H

#include "ufs-harness.h"

#define MCQ_MAX     32
#define MCQ_ENTRY   32
/* Where queues are in guest memory: room for 1024 entries each. */
#define MCQ_SQ(q)   (0x03300000ull + (q) * 0x10000ull)
#define MCQ_CQ(q)   (MCQ_SQ(q) + 0x8000ull)
/* Messages of MSI-X: a word for each vector. */
#define MCQ_MSG(v)  (0x01003000ull + (v) * 4ull)
#define MCQ_MSG_DATA(v) (0x5000u + (v))

/* Registers of queue q. */
#define MCQ_CFG(q, a_reg) (0x400 + (q) * 0x40 + (a_reg))
#define MCQ_OP(q, field) \
    (UFS_MCQ_OPR_START + (q) * 48 + offsetof(UfsMcqOpReg, field))
#define MCQ_ESIE    2
#define MCQ_SQES    BIT(19)
#define MCQ_IAGES   BIT(21)
#define MCQ_IAGVLD  BIT(8)      /* CQCFG; the group below it */
#define MCQ_CTR     BIT(16)     /* MCQIACR */
#define MCQ_NULLIFIED (0xfu << 28)
/* SQIS, SQIE */
#define MCQ_SQ_STOP    2
#define MCQ_SQ_CLEANUP 4
/* SQRTC, SQRTS */
#define MCQ_STP     1
#define MCQ_ICU     2
#define MCQ_STS     1
#define MCQ_CUS     2
#define MCQ_RTC(rts) ((rts) >> 4 & 0xf)

typedef struct Mcq {
    Ufs *u;
    unsigned queues;
    uint32_t bytes;             /* of each queue */
    uint32_t tail[MCQ_MAX];     /* of the SQ, ours */
    uint32_t head[MCQ_MAX];     /* of the CQ, ours */
} Mcq;

/* mcq=on, @knobs; nothing set up yet. */
Mcq *mcq_start(const char *knobs);
/* ... and @queues pairs of @depth entries each */
Mcq *mcq_start_up(const char *knobs, unsigned queues, unsigned depth);
void mcq_up(Mcq *m, unsigned queues, unsigned depth);
void mcq_create_cq(Mcq *m, unsigned q, unsigned depth);
void mcq_create_sq(Mcq *m, unsigned q, unsigned depth, unsigned cq);
void mcq_stop(Mcq *m);

uint32_t mcq_read(Mcq *m, uint32_t reg);
void mcq_write(Mcq *m, uint32_t reg, uint32_t val);

/* The request prepared in @slot becomes the next entry of @q. */
void mcq_put(Mcq *m, unsigned q, unsigned slot);
void mcq_ring(Mcq *m, unsigned q);
void mcq_submit(Mcq *m, unsigned q, unsigned slot);

/* Entries that wait; the oldest of them, which is then done with. */
unsigned mcq_pending(Mcq *m, unsigned q);
UfsCqEntry mcq_pop(Mcq *m, unsigned q);
/* The head as far as popped, to the device. */
void mcq_head(Mcq *m, unsigned q);
/* There is one, of @slot from @sq, with @ocs; head and CQIS follow. */
void mcq_expect(Mcq *m, unsigned q, unsigned sq, unsigned slot, uint8_t ocs);
unsigned mcq_slot(const UfsCqEntry *entry);
void mcq_expect_guest_errors(Mcq *m, uint64_t more);

/* Queue and tag to SQRTC with ICU; the return code, or -1 while it waits. */
int mcq_cleanup(Mcq *m, unsigned q, unsigned lun, unsigned tag);

void mcq_msix_on(Mcq *m);
/* Has the message come since the last look? */
bool mcq_msg_taken(Mcq *m, unsigned vector);

/* The parts of the program. */
void add_queue_tests(void);
void add_control_tests(void);
void add_irq_tests(void);
void add_host_clock_tests(void);
void add_mcq_hostile_tests(void);
void add_mcq_migrate_tests(void);

#endif
