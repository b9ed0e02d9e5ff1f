/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The AHCI transport's own types: registers (AHCI 1.3.1, 3), structures in
 * memory (4), and what lies around them.  Commands and IDENTIFY words are
 * declared by <linux/ata.h>.
 */
#ifndef IRQBED_AHCI_H
#define IRQBED_AHCI_H

#include <linux/ata.h>
#include <linux/io.h>

#include "irqbed.h"

#define IRQBED_AHCI_BAR		5
#define IRQBED_AHCI_PORT_BASE	0x100
#define IRQBED_AHCI_PORT_BYTES	0x80
#define IRQBED_AHCI_LOG_BYTES	512	/* of IDENTIFY data and log pages */

/* 3.1: generic host control */
enum {
	AHCI_CAP = 0x00,
	AHCI_GHC = 0x04,
	AHCI_IS = 0x08,
	AHCI_PI = 0x0c,
};

#define AHCI_CAP_NCS(cap)	((((cap) >> 8) & 0x1f) + 1)
#define AHCI_CAP_SNCQ		BIT(30)
#define AHCI_CAP_S64A		BIT(31)
#define AHCI_GHC_HR		BIT(0)
#define AHCI_GHC_IE		BIT(1)
#define AHCI_GHC_MRSM		BIT(2)
#define AHCI_GHC_AE		BIT(31)

/* 3.3: registers of a port */
enum {
	AHCI_PX_CLB = 0x00,
	AHCI_PX_CLBU = 0x04,
	AHCI_PX_FB = 0x08,
	AHCI_PX_FBU = 0x0c,
	AHCI_PX_IS = 0x10,
	AHCI_PX_IE = 0x14,
	AHCI_PX_CMD = 0x18,
	AHCI_PX_TFD = 0x20,
	AHCI_PX_SIG = 0x24,
	AHCI_PX_SSTS = 0x28,
	AHCI_PX_SCTL = 0x2c,
	AHCI_PX_SERR = 0x30,
	AHCI_PX_SACT = 0x34,
	AHCI_PX_CI = 0x38,
};

#define AHCI_PX_IS_DHRS		BIT(0)	/* register FIS */
#define AHCI_PX_IS_PSS		BIT(1)	/* PIO setup FIS */
#define AHCI_PX_IS_SDBS		BIT(3)	/* set device bits FIS */
#define AHCI_PX_IS_UFS		BIT(4)	/* unknown FIS; as PxSERR.DIAG.F */
#define AHCI_PX_IS_PCS		BIT(6)	/* new device; as PxSERR.DIAG.X */
#define AHCI_PX_IS_PRCS		BIT(22)	/* link went or came; as PxSERR.DIAG.N */
#define AHCI_PX_IS_OFS		BIT(24)	/* overflow */
#define AHCI_PX_IS_INFS		BIT(26)	/* interface error that was repaired */
#define AHCI_PX_IS_IFS		BIT(27)	/* interface error */
#define AHCI_PX_IS_HBDS		BIT(28)	/* memory error, data */
#define AHCI_PX_IS_HBFS		BIT(29)	/* memory error, structures */
#define AHCI_PX_IS_TFES		BIT(30)	/* task file error */
#define AHCI_PX_CMD_ST		BIT(0)
#define AHCI_PX_CMD_SUD		BIT(1)
#define AHCI_PX_CMD_POD		BIT(2)
#define AHCI_PX_CMD_FRE		BIT(4)
#define AHCI_PX_CMD_FR		BIT(14)
#define AHCI_PX_CMD_CR		BIT(15)
#define AHCI_PX_DET		0xf	/* of PxSSTS and PxSCTL */
#define AHCI_DET_COMRESET	1
#define AHCI_DET_ESTABLISHED	3
#define AHCI_SIG_ATA		0x00000101

/* What was transferred, and what only a recovery helps against. */
#define IRQBED_AHCI_DONE	(AHCI_PX_IS_DHRS | AHCI_PX_IS_PSS |	\
				 AHCI_PX_IS_SDBS)
#define IRQBED_AHCI_LINK	(AHCI_PX_IS_PCS | AHCI_PX_IS_PRCS)
#define IRQBED_AHCI_FATAL	(AHCI_PX_IS_OFS | AHCI_PX_IS_IFS |	\
				 AHCI_PX_IS_HBDS | AHCI_PX_IS_HBFS)
#define IRQBED_AHCI_STUCK	(AHCI_PX_IS_TFES | IRQBED_AHCI_FATAL |	\
				 IRQBED_AHCI_LINK)
#define IRQBED_AHCI_QUIET	(IRQBED_AHCI_STUCK | AHCI_PX_IS_UFS |	\
				 AHCI_PX_IS_INFS)
#define IRQBED_AHCI_IE		(IRQBED_AHCI_DONE | IRQBED_AHCI_QUIET)

/* 4.2.2: an entry of the command list */
struct irqbed_ahci_header {
	__le16 flags;
	__le16 prdtl;
	__le32 prdbc;
	__le64 ctba;
	__le32 reserved[4];
};

#define AHCI_HEADER_CFL		5	/* dwords of a command FIS */
#define AHCI_HEADER_WRITE	BIT(6)

/* 4.2.3.3: physical region descriptor */
struct irqbed_ahci_prd {
	__le64 dba;
	__le32 reserved;
	__le32 dbc;		/* bytes - 1 */
};

/* Serial ATA 3.1, 10.5.5: register FIS, host to device */
struct irqbed_ahci_fis {
	u8 type;
	u8 flags;
	u8 command;
	u8 feature_low;
	u8 lba[3];
	u8 device;
	u8 lba_high[3];
	u8 feature_high;
	u8 count_low;
	u8 count_high;
	u8 icc;
	u8 control;
	u8 auxiliary[4];
};

#define AHCI_FIS_H2D		0x27
#define AHCI_FIS_COMMAND	BIT(7)

/* Ranges of a trim, ACS-2 7.10: address in 48 bits, length in 16. */
#define IRQBED_AHCI_RANGES	(IRQBED_AHCI_LOG_BYTES / 8)
#define IRQBED_AHCI_RANGE_MAX	0xffff

/* 4.2.3: command table, 128-byte aligned */
struct irqbed_ahci_table {
	struct irqbed_ahci_fis fis;
	u8 rest_of_fis[64 - sizeof(struct irqbed_ahci_fis)];
	u8 atapi[64];
	struct irqbed_ahci_prd prdt[IRQBED_MAX_SEGMENTS];
	__le64 ranges[IRQBED_AHCI_RANGES];
} __aligned(128);

static_assert(sizeof(struct irqbed_ahci_header) == 32);
static_assert(sizeof(struct irqbed_ahci_prd) == 16);
static_assert(sizeof(struct irqbed_ahci_fis) == 20);
static_assert(offsetof(struct irqbed_ahci_table, prdt) == 0x80);
static_assert(sizeof(struct irqbed_ahci_table) % 128 == 0);

/* All that the hardware sees of a port. */
struct irqbed_ahci_mem {
	struct irqbed_ahci_header list[IRQBED_MAX_SLOTS];	/* 1 KiB aligned */
	u8 received[256];					/* 256 aligned */
	u8 data[IRQBED_AHCI_LOG_BYTES];		/* of admin commands */
	struct irqbed_ahci_table table[IRQBED_MAX_SLOTS];
};

/**
 * struct irqbed_ahci_port - the transport's part of a queue
 * @regs: the port's registers; NULL when the HBA does not implement it
 * @mem: what the hardware sees
 * @dma: bus address of @mem
 * @error: PxIS bits that only a recovery helps against, since the last one
 * @listed: since the last reset of the HBA it has been told of its command list
 * @up: started, and an ATA drive is there
 * @ncq: the drive takes queued commands
 * @events: PxIE as it was last written; under ctrl->mask_lock
 */
struct irqbed_ahci_port {
	void __iomem *regs;
	struct irqbed_ahci_mem *mem;
	dma_addr_t dma;
	atomic_t error;
	bool listed;
	bool up;
	bool ncq;
	u32 events;
};

/**
 * struct irqbed_ahci - the transport's part of a controller
 * @cap: the register CAP
 * @ports: map of the ports implemented
 * @port: each port
 */
struct irqbed_ahci {
	u32 cap;
	u32 ports;
	struct irqbed_ahci_port port[IRQBED_MAX_QUEUES];
};

/* A command FIS and its data, where they are put together. */
struct irqbed_ahci_command {
	u8 command;
	u8 device;
	u16 feature;
	u16 count;
	u64 lba;
	bool write;
	u32 segments;
};

static inline struct irqbed_ahci *irqbed_ahci(struct irqbed_ctrl *ctrl)
{
	return ctrl->priv;
}

static inline struct irqbed_ahci_port *irqbed_ahci_port(struct irqbed_queue *q)
{
	return &irqbed_ahci(q->ctrl)->port[q->index];
}

static inline u32 irqbed_ahci_events(const struct irqbed_queue *q)
{
	return q->quiet ? IRQBED_AHCI_QUIET : IRQBED_AHCI_IE;
}

static inline void irqbed_ahci_ghc(struct irqbed_ctrl *ctrl, bool ie)
{
	writel(AHCI_GHC_AE | (ie ? AHCI_GHC_IE : 0), ctrl->regs + AHCI_GHC);
}

/* ahci.c */
void irqbed_ahci_fill(struct irqbed_ahci_port *port, u32 slot,
		      const struct irqbed_ahci_command *c);
void irqbed_ahci_fill_prd(struct irqbed_ahci_prd *prd, dma_addr_t addr,
			  u32 bytes);

void irqbed_ahci_enable(struct irqbed_ahci_port *port, u32 events);

/* ahci_init.c */
int irqbed_ahci_alloc(struct irqbed_ctrl *ctrl);
int irqbed_ahci_start(struct irqbed_ctrl *ctrl, struct irqbed_queue *q);
void irqbed_ahci_stop(struct irqbed_ctrl *ctrl, struct irqbed_queue *q);

/* ahci_scan.c: commands of the driver's own, polled, in an idle port */
int irqbed_ahci_failed_slot(struct irqbed_queue *q);
int irqbed_ahci_scan(struct irqbed_ctrl *ctrl);

#endif /* IRQBED_AHCI_H */
