/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * ATA commands, status and logs that the drives know: ACS-2 (T13/2015-D), and
 * NCQ of Serial ATA 3.1, 13.6.
 */

#ifndef HW_IRQBED_AHCI_ATA_H
#define HW_IRQBED_AHCI_ATA_H

enum {
    ATA_NOP = 0x00,
    ATA_DATA_SET_MANAGEMENT = 0x06,
    ATA_READ_PIO = 0x20,
    ATA_READ_PIO_EXT = 0x24,
    ATA_READ_DMA_EXT = 0x25,
    ATA_READ_NATIVE_MAX_EXT = 0x27,
    ATA_READ_MULTIPLE_EXT = 0x29,
    ATA_READ_LOG_EXT = 0x2f,
    ATA_WRITE_PIO = 0x30,
    ATA_WRITE_PIO_EXT = 0x34,
    ATA_WRITE_DMA_EXT = 0x35,
    ATA_WRITE_MULTIPLE_EXT = 0x39,
    ATA_WRITE_DMA_FUA_EXT = 0x3d,
    ATA_READ_VERIFY = 0x40,
    ATA_READ_VERIFY_EXT = 0x42,
    ATA_READ_LOG_DMA_EXT = 0x47,
    ATA_READ_FPDMA_QUEUED = 0x60,
    ATA_WRITE_FPDMA_QUEUED = 0x61,
    ATA_NCQ_NON_DATA = 0x63,
    ATA_SEND_FPDMA_QUEUED = 0x64,
    ATA_RECEIVE_FPDMA_QUEUED = 0x65,
    ATA_EXECUTE_DIAGNOSTIC = 0x90,
    ATA_INITIALIZE_PARAMETERS = 0x91,
    ATA_SMART = 0xb0,
    ATA_READ_MULTIPLE = 0xc4,
    ATA_WRITE_MULTIPLE = 0xc5,
    ATA_SET_MULTIPLE_MODE = 0xc6,
    ATA_READ_DMA = 0xc8,
    ATA_WRITE_DMA = 0xca,
    ATA_STANDBY_IMMEDIATE = 0xe0,
    ATA_IDLE_IMMEDIATE = 0xe1,
    ATA_STANDBY = 0xe2,
    ATA_IDLE = 0xe3,
    ATA_CHECK_POWER_MODE = 0xe5,
    ATA_SLEEP = 0xe6,
    ATA_FLUSH_CACHE = 0xe7,
    ATA_FLUSH_CACHE_EXT = 0xea,
    ATA_IDENTIFY_DEVICE = 0xec,
    ATA_SET_FEATURES = 0xef,
    ATA_READ_NATIVE_MAX = 0xf8,
};

/* Status and error */
enum {
    ATA_STS_ERR = 0x01,
    ATA_STS_DRQ = 0x08,
    ATA_STS_DSC = 0x10,
    ATA_STS_DRDY = 0x40,
    ATA_STS_BSY = 0x80,
    ATA_STS_GOOD = ATA_STS_DRDY | ATA_STS_DSC,
    ATA_STS_BAD = ATA_STS_GOOD | ATA_STS_ERR,
    ATA_STS_NO_DEVICE = 0x7f,

    ATA_ERR_ABRT = 0x04,
    ATA_ERR_IDNF = 0x10,
    ATA_ERR_UNC = 0x40,
    ATA_ERR_ICRC = 0x80,
    ATA_ERR_DIAGNOSTIC_PASSED = 0x01,
};

/* Device */
enum {
    ATA_DEV_LBA = 0x40,
    ATA_DEV_FUA = 0x80,         /* queued commands */
    ATA_DEV_LBA_MASK = 0x0f,    /* bits 27:24 of a 28-bit command's LBA */
};

/* SET FEATURES, 7.45 */
enum {
    ATA_FEAT_WRITE_CACHE_ON = 0x02,
    ATA_FEAT_TRANSFER_MODE = 0x03,
    ATA_FEAT_LOOK_AHEAD_OFF = 0x55,
    ATA_FEAT_KEEP_SETTINGS = 0x66,
    ATA_FEAT_WRITE_CACHE_OFF = 0x82,
    ATA_FEAT_LOOK_AHEAD_ON = 0xaa,
    ATA_FEAT_REVERT_SETTINGS = 0xcc,
};

/* SET FEATURES 03h: the mode in the count field */
enum {
    ATA_MODE_PIO_DEFAULT = 0x00,
    ATA_MODE_PIO_FLOW = 0x08,
    ATA_MODE_MWDMA = 0x20,
    ATA_MODE_UDMA = 0x40,
    ATA_MODE_KIND_MASK = 0xf8,
    ATA_MODE_NUMBER_MASK = 0x07,
    ATA_PIO_MAX = 4,
    ATA_MWDMA_MAX = 2,
    ATA_UDMA_MAX = 6,
};

/* SMART, 7.48: the feature; the LBA holds a key */
enum {
    ATA_SMART_READ_DATA = 0xd0,
    ATA_SMART_AUTOSAVE = 0xd2,
    ATA_SMART_ENABLE = 0xd8,
    ATA_SMART_DISABLE = 0xd9,
    ATA_SMART_RETURN_STATUS = 0xda,
};
#define ATA_SMART_LBA_MID       0x4f
#define ATA_SMART_LBA_HIGH      0xc2

/* Logs, annex A */
enum {
    ATA_LOG_DIRECTORY = 0x00,
    ATA_LOG_NCQ_ERROR = 0x10,
};

#define ATA_LOG_NCQ_NOT_QUEUED  0x80        /* bit NQ of byte 0 */
#define ATA_LOG_PAGE_BYTES      512
#define ATA_IDENTIFY_BYTES      512

/* CHECK POWER MODE, 7.3 */
enum {
    ATA_POWER_STANDBY = 0x00,
    ATA_POWER_IDLE = 0x80,
    ATA_POWER_ACTIVE = 0xff,
    ATA_POWER_SLEEP = 0x100,    /* not reported: no command is answered */
};

#define ATA_DSM_TRIM            0x01
#define ATA_DSM_MAX_BLOCKS      1           /* of 512 bytes */
#define ATA_DSM_RANGES          64          /* in each */
#define ATA_MAX_MULTIPLE        16          /* sectors in a DRQ block */
#define ATA_LBA28_MAX           0x0fffffff

#endif
