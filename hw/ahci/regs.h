/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the guest and the HBA share: registers (AHCI 1.3.1, 3), structures in
 * memory (4) and FISes (Serial ATA 3.1, 10.5).  Little endian throughout.
 */

#ifndef HW_IRQBED_AHCI_REGS_H
#define HW_IRQBED_AHCI_REGS_H

#include "hw/registerfields.h"

#define IRQBED_AHCI_MAX_PORTS   32
#define IRQBED_AHCI_MAX_SLOTS   32
#define IRQBED_AHCI_PORT_BASE   0x100
#define IRQBED_AHCI_PORT_BYTES  0x80

/* 3.1: generic host control */
REG32(HBA_CAP, 0x00)
    FIELD(HBA_CAP, NP, 0, 5)
    FIELD(HBA_CAP, CCCS, 7, 1)
    FIELD(HBA_CAP, NCS, 8, 5)
    FIELD(HBA_CAP, PMD, 15, 1)
    FIELD(HBA_CAP, SAM, 18, 1)
    FIELD(HBA_CAP, ISS, 20, 4)
    FIELD(HBA_CAP, SCLO, 24, 1)
    FIELD(HBA_CAP, SNCQ, 30, 1)
    FIELD(HBA_CAP, S64A, 31, 1)
REG32(HBA_GHC, 0x04)
    FIELD(HBA_GHC, HR, 0, 1)
    FIELD(HBA_GHC, IE, 1, 1)
    FIELD(HBA_GHC, MRSM, 2, 1)
    FIELD(HBA_GHC, AE, 31, 1)
REG32(HBA_IS, 0x08)
REG32(HBA_PI, 0x0c)
REG32(HBA_VS, 0x10)
REG32(HBA_CCC_CTL, 0x14)
    FIELD(HBA_CCC_CTL, EN, 0, 1)
    FIELD(HBA_CCC_CTL, INT, 3, 5)
    FIELD(HBA_CCC_CTL, CC, 8, 8)
    FIELD(HBA_CCC_CTL, TV, 16, 16)
REG32(HBA_CCC_PORTS, 0x18)
REG32(HBA_EM_LOC, 0x1c)
REG32(HBA_EM_CTL, 0x20)
REG32(HBA_CAP2, 0x24)
    FIELD(HBA_CAP2, BOH, 0, 1)
REG32(HBA_BOHC, 0x28)
    FIELD(HBA_BOHC, BOS, 0, 1)
    FIELD(HBA_BOHC, OOS, 1, 1)
    FIELD(HBA_BOHC, SOOE, 2, 1)
    FIELD(HBA_BOHC, OOC, 3, 1)
    FIELD(HBA_BOHC, BB, 4, 1)

#define IRQBED_AHCI_SPEED_GEN3  3
#define IRQBED_AHCI_VS_1_0      0x00010000
#define IRQBED_AHCI_VS_1_3_1    0x00010301

/* 3.3: port registers, from the port's base */
REG32(PORT_CLB, 0x00)
REG32(PORT_CLBU, 0x04)
REG32(PORT_FB, 0x08)
REG32(PORT_FBU, 0x0c)
REG32(PORT_IS, 0x10)
    FIELD(PORT_IS, DHRS, 0, 1)      /* register FIS */
    FIELD(PORT_IS, PSS, 1, 1)       /* PIO setup FIS */
    FIELD(PORT_IS, SDBS, 3, 1)      /* set device bits FIS */
    FIELD(PORT_IS, UFS, 4, 1)       /* RO, as PxSERR.DIAG.F */
    FIELD(PORT_IS, DPS, 5, 1)       /* PRD with bit I transferred */
    FIELD(PORT_IS, PCS, 6, 1)       /* RO, as PxSERR.DIAG.X */
    FIELD(PORT_IS, PRCS, 22, 1)     /* RO, as PxSERR.DIAG.N */
    FIELD(PORT_IS, OFS, 24, 1)      /* more data than the table has room for */
    FIELD(PORT_IS, IFS, 27, 1)      /* interface fatal error */
    FIELD(PORT_IS, HBDS, 28, 1)     /* memory error, data */
    FIELD(PORT_IS, HBFS, 29, 1)     /* memory error, structures */
    FIELD(PORT_IS, TFES, 30, 1)     /* task file error */
#define IRQBED_AHCI_IS_ERRORS \
    (R_PORT_IS_OFS_MASK | R_PORT_IS_IFS_MASK | R_PORT_IS_HBDS_MASK | \
     R_PORT_IS_HBFS_MASK | R_PORT_IS_TFES_MASK)
REG32(PORT_IE, 0x14)
#define IRQBED_AHCI_IE_MASK     0xfdc000ff
REG32(PORT_CMD, 0x18)
    FIELD(PORT_CMD, ST, 0, 1)
    FIELD(PORT_CMD, SUD, 1, 1)
    FIELD(PORT_CMD, POD, 2, 1)
    FIELD(PORT_CMD, CLO, 3, 1)
    FIELD(PORT_CMD, FRE, 4, 1)
    FIELD(PORT_CMD, CCS, 8, 5)
    FIELD(PORT_CMD, FR, 14, 1)
    FIELD(PORT_CMD, CR, 15, 1)
    FIELD(PORT_CMD, HPCP, 18, 1)
    FIELD(PORT_CMD, ATAPI, 24, 1)
    FIELD(PORT_CMD, DLAE, 25, 1)
REG32(PORT_TFD, 0x20)
    FIELD(PORT_TFD, STS, 0, 8)
    FIELD(PORT_TFD, ERR, 8, 8)
REG32(PORT_SIG, 0x24)
REG32(PORT_SSTS, 0x28)
    FIELD(PORT_SSTS, DET, 0, 4)
    FIELD(PORT_SSTS, SPD, 4, 4)
    FIELD(PORT_SSTS, IPM, 8, 4)
REG32(PORT_SCTL, 0x2c)
    FIELD(PORT_SCTL, DET, 0, 4)
    FIELD(PORT_SCTL, SPD, 4, 4)
    FIELD(PORT_SCTL, IPM, 8, 4)
REG32(PORT_SERR, 0x30)
    FIELD(PORT_SERR, DIAG_N, 16, 1)     /* PhyRdy changed */
    FIELD(PORT_SERR, DIAG_H, 22, 1)     /* handshake error */
    FIELD(PORT_SERR, DIAG_F, 25, 1)     /* unknown FIS */
    FIELD(PORT_SERR, DIAG_X, 26, 1)     /* exchanged: COMINIT received */
#define IRQBED_AHCI_SERR_MASK   0x07ff0f03
REG32(PORT_SACT, 0x34)
REG32(PORT_CI, 0x38)
REG32(PORT_SNTF, 0x3c)
REG32(PORT_FBS, 0x40)
REG32(PORT_DEVSLP, 0x44)

/* PxSSTS.DET and PxSCTL.DET */
enum {
    AHCI_DET_NONE = 0,
    AHCI_DET_COMRESET = 1,
    AHCI_DET_ESTABLISHED = 3,
    AHCI_DET_OFFLINE = 4,
};

#define AHCI_SIG_NONE           0xffffffff
#define AHCI_SIG_ATA            0x00000101

/* 4.2.2: an entry of the command list */
typedef struct QEMU_PACKED AhciCmdHeader {
    uint16_t flags;
    uint16_t prdtl;
    uint32_t prdbc;
    uint64_t ctba;
    uint32_t reserved[4];
} AhciCmdHeader;

QEMU_BUILD_BUG_ON(sizeof(AhciCmdHeader) != 32);

#define AHCI_CMD_CFL_MASK       0x001f      /* dwords of the command FIS */
#define AHCI_CMD_BIST           0x0200
#define AHCI_CMD_CLEAR_BUSY     0x0400
#define AHCI_CMD_PMP_MASK       0xf000
#define AHCI_CTBA_ALIGN         128
#define AHCI_PRDT_OFFSET        0x80        /* in the command table, 4.2.3 */

/* 4.2.3.3: physical region descriptor */
typedef struct QEMU_PACKED AhciPrd {
    uint64_t dba;
    uint32_t reserved;
    uint32_t dbc;               /* bytes - 1, always odd; bit 31: interrupt */
} AhciPrd;

QEMU_BUILD_BUG_ON(sizeof(AhciPrd) != 16);

#define AHCI_PRD_DBC_MASK       0x003fffff
#define AHCI_PRD_IRQ            0x80000000

/* 4.2.1: where received FISes are posted */
enum {
    AHCI_RX_PIO_SETUP = 0x20,
    AHCI_RX_D2H = 0x40,
    AHCI_RX_SDB = 0x58,
};
#define AHCI_CLB_ALIGN          1024
#define AHCI_FB_ALIGN           256

enum {
    FIS_H2D = 0x27,
    FIS_D2H = 0x34,
    FIS_PIO_SETUP = 0x5f,
    FIS_SDB = 0xa1,
};

#define FIS_H2D_COMMAND         0x80        /* bit C */
#define FIS_PM_PORT_MASK        0x0f
#define FIS_D2H_IRQ             0x40        /* bit I */
#define FIS_PIO_TO_HOST         0x20        /* bit D */
#define FIS_CONTROL_SRST        0x04

typedef struct QEMU_PACKED FisH2d {
    uint8_t type;
    uint8_t flags;
    uint8_t command;
    uint8_t feature0;
    uint8_t lba0;
    uint8_t lba1;
    uint8_t lba2;
    uint8_t device;
    uint8_t lba3;
    uint8_t lba4;
    uint8_t lba5;
    uint8_t feature1;
    uint8_t count0;
    uint8_t count1;
    uint8_t icc;
    uint8_t control;
    uint32_t auxiliary;
} FisH2d;

typedef struct QEMU_PACKED FisD2h {
    uint8_t type;
    uint8_t flags;
    uint8_t status;
    uint8_t error;
    uint8_t lba0;
    uint8_t lba1;
    uint8_t lba2;
    uint8_t device;
    uint8_t lba3;
    uint8_t lba4;
    uint8_t lba5;
    uint8_t reserved0;
    uint8_t count0;
    uint8_t count1;
    uint8_t reserved1;
    uint8_t e_status;           /* PIO setup only */
    uint16_t bytes;             /* PIO setup only */
    uint16_t reserved2;
} FisD2h;

typedef struct QEMU_PACKED FisSdb {
    uint8_t type;
    uint8_t flags;
    uint8_t status;
    uint8_t error;
    uint32_t sactive;
} FisSdb;

QEMU_BUILD_BUG_ON(sizeof(FisH2d) != 20);
QEMU_BUILD_BUG_ON(sizeof(FisD2h) != 20);
QEMU_BUILD_BUG_ON(sizeof(FisSdb) != 8);

#define FIS_H2D_DWORDS          (sizeof(FisH2d) / 4)

#endif
