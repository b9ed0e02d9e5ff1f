/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * See mcq-harness.h.
 */

#include "mcq-harness.h"

Mcq *mcq_start(const char *knobs)
{
    g_autofree char *all = g_strdup_printf(",mcq=on%s", knobs);
    Mcq *m = g_new0(Mcq, 1);

    m->u = ufs_start(all);
    return m;
}

Mcq *mcq_start_up(const char *knobs, unsigned queues, unsigned depth)
{
    Mcq *m = mcq_start(knobs);

    mcq_up(m, queues, depth);
    return m;
}

void mcq_stop(Mcq *m)
{
    ufs_stop(m->u);
    g_free(m);
}

uint32_t mcq_read(Mcq *m, uint32_t reg)
{
    return ufs_read(m->u, reg);
}

void mcq_write(Mcq *m, uint32_t reg, uint32_t val)
{
    ufs_write(m->u, reg, val);
}

void mcq_create_cq(Mcq *m, unsigned q, unsigned depth)
{
    mcq_write(m, MCQ_CFG(q, A_CQLBA), (uint32_t)MCQ_CQ(q));
    mcq_write(m, MCQ_CFG(q, A_CQUBA), MCQ_CQ(q) >> 32);
    mcq_write(m, MCQ_CFG(q, A_CQATTR), 1u << 31 | (depth * 8 - 1));
    m->head[q] = 0;
}

void mcq_create_sq(Mcq *m, unsigned q, unsigned depth, unsigned cq)
{
    mcq_write(m, MCQ_CFG(q, A_SQLBA), (uint32_t)MCQ_SQ(q));
    mcq_write(m, MCQ_CFG(q, A_SQUBA), MCQ_SQ(q) >> 32);
    mcq_write(m, MCQ_CFG(q, A_SQATTR), 1u << 31 | cq << 16 | (depth * 8 - 1));
    m->tail[q] = 0;
}

void mcq_up(Mcq *m, unsigned queues, unsigned depth)
{
    unsigned q;

    ufs_up(m->u);
    m->queues = queues;
    m->bytes = depth * MCQ_ENTRY;
    mcq_write(m, A_MCQCONFIG, 0xff << 8);
    for (q = 0; q < queues; q++) {
        mcq_create_cq(m, q, depth);
        mcq_create_sq(m, q, depth, q);
        mcq_write(m, MCQ_OP(q, cq_int.ie), 1);
    }
    mcq_write(m, A_CONFIG, 1);
    mcq_write(m, A_IE, R_IE_CQEE_MASK);
}

void mcq_put(Mcq *m, unsigned q, unsigned slot)
{
    uint8_t utrd[MCQ_ENTRY];

    qtest_memread(m->u->qts, UFS_UTRL + slot * MCQ_ENTRY, utrd, MCQ_ENTRY);
    qtest_memwrite(m->u->qts, MCQ_SQ(q) + m->tail[q], utrd, MCQ_ENTRY);
    m->tail[q] = (m->tail[q] + MCQ_ENTRY) % m->bytes;
}

void mcq_ring(Mcq *m, unsigned q)
{
    mcq_write(m, MCQ_OP(q, sq.tp), m->tail[q]);
}

void mcq_submit(Mcq *m, unsigned q, unsigned slot)
{
    mcq_put(m, q, slot);
    mcq_ring(m, q);
}

unsigned mcq_pending(Mcq *m, unsigned q)
{
    uint32_t tail = mcq_read(m, MCQ_OP(q, cq.tp));

    return (tail + m->bytes - m->head[q]) % m->bytes / MCQ_ENTRY;
}

UfsCqEntry mcq_pop(Mcq *m, unsigned q)
{
    UfsCqEntry entry;

    qtest_memread(m->u->qts, MCQ_CQ(q) + m->head[q], &entry, sizeof(entry));
    m->head[q] = (m->head[q] + MCQ_ENTRY) % m->bytes;
    return entry;
}

void mcq_head(Mcq *m, unsigned q)
{
    mcq_write(m, MCQ_OP(q, cq.hp), m->head[q]);
}

unsigned mcq_slot(const UfsCqEntry *entry)
{
    return ((le64_to_cpu(entry->utp_addr) & ~0x7full) - UFS_UCD(0)) / 0x1000;
}

void mcq_expect(Mcq *m, unsigned q, unsigned sq, unsigned slot, uint8_t ocs)
{
    UfsCqEntry entry;

    g_assert_cmpuint(mcq_pending(m, q), >=, 1);
    mcq_write(m, MCQ_OP(q, cq_int.is), 1);
    entry = mcq_pop(m, q);
    mcq_head(m, q);
    g_assert_cmphex(le64_to_cpu(entry.utp_addr), ==, UFS_UCD(slot) | sq);
    g_assert_cmphex(entry.status, ==, ocs);
    g_assert_cmphex(entry.error, ==, 0);
    g_assert_cmpuint(le16_to_cpu(entry.resp_off), ==, UFS_RSP_OFF / 4);
}

void mcq_expect_guest_errors(Mcq *m, uint64_t more)
{
    static uint64_t before;
    uint64_t now = ufs_stat(m->u, "guest_errors");

    if (more) {
        g_assert_cmpuint(now, ==, before + more);
    }
    before = now;
}

int mcq_cleanup(Mcq *m, unsigned q, unsigned lun, unsigned tag)
{
    uint32_t rts;

    mcq_write(m, MCQ_OP(q, sq.cti), lun << 8 | tag);
    mcq_write(m, MCQ_OP(q, sq.rtc), mcq_read(m, MCQ_OP(q, sq.rtc)) | MCQ_ICU);
    rts = mcq_read(m, MCQ_OP(q, sq.rts));
    return rts & MCQ_CUS ? MCQ_RTC(rts) : -1;
}

void mcq_msix_on(Mcq *m)
{
    QPCIDevice *dev = m->u->dev;
    unsigned v;

    qpci_msix_enable(dev);
    for (v = 0; v < qpci_msix_table_size(dev); v++) {
        uint64_t at = dev->msix_table_off + v * PCI_MSIX_ENTRY_SIZE;

        qpci_io_writel(dev, dev->msix_table_bar, at + PCI_MSIX_ENTRY_LOWER_ADDR,
                       MCQ_MSG(v));
        qpci_io_writel(dev, dev->msix_table_bar, at + PCI_MSIX_ENTRY_UPPER_ADDR,
                       0);
        qpci_io_writel(dev, dev->msix_table_bar, at + PCI_MSIX_ENTRY_DATA,
                       MCQ_MSG_DATA(v));
        qpci_io_writel(dev, dev->msix_table_bar,
                       at + PCI_MSIX_ENTRY_VECTOR_CTRL, 0);
        qtest_writel(m->u->qts, MCQ_MSG(v), 0);
    }
}

bool mcq_msg_taken(Mcq *m, unsigned vector)
{
    uint32_t val = qtest_readl(m->u->qts, MCQ_MSG(vector));

    qtest_writel(m->u->qts, MCQ_MSG(vector), 0);
    g_assert_true(val == 0 || val == MCQ_MSG_DATA(vector));
    return val;
}
