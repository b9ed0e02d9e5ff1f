/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A UFS host driver's smallest half, for libqtest: machine, link start-up,
 * descriptors in guest memory, doorbells, answers.  Nothing here is meant to
 * be robust: a device that answers wrongly fails the test on the spot.
 */

#ifndef IRQBED_UFS_HARNESS_H
#define IRQBED_UFS_HARNESS_H

#include "qemu/osdep.h"
#include "qemu/units.h"
#include "libqtest.h"
#include "libqos/pci.h"
#include "libqos/pci-pc.h"
#include "hw/pci/pci_regs.h"
#include "qobject/qdict.h"
#include "qobject/qnum.h"
#include "scsi/constants.h"
#include "block/ufs.h"

#define UFS_BLOCK     4096
#define UFS_IMAGE     (8 * MiB)
#define UFS_SLOTS     32
#define UFS_RAM_BYTES (64 * MiB)

/* Where things are in guest memory. */
#define UFS_UTRL      0x01000000ull
#define UFS_UTMRL     0x01001000ull
#define UFS_MSI_ADDR  0x01002000ull
#define UFS_UCD(slot) (0x01100000ull + (slot) * 0x1000ull)
#define UFS_DATA(slot) (0x01200000ull + (slot) * 0x20000ull)
#define UFS_RSP_OFF   0x400
#define UFS_PRDT_OFF  0x800
#define UFS_MSI_DATA  0x4321

typedef struct Ufs {
    QTestState *qts;
    QPCIBus *bus;
    QPCIDevice *dev;
    QPCIBar bar;
    char *image[2];
    const char *node1, *lu1;    /* options of LUN 1: block node and device */
    char *bios;
    int64_t now;                /* virtual time of the last step */
    bool unplugged;
} Ufs;

/* Path of a new file of zeroes; the caller's to free and to unlink. */
char *ufs_new_image(off_t bytes);
/* @knobs: device properties, comma first, or "". LUNs 0 and 1 get images. */
Ufs *ufs_start(const char *knobs);
/* ... and the second image read-only */
Ufs *ufs_start_ro(const char *knobs);
/* ... and with @lu1 (comma first) for LUN 1, @extra words for QEMU */
Ufs *ufs_start_lu1(const char *knobs, const char *lu1, const char *extra);
/*
 * With the host's clock, and standing still: no timer fires, so that what is
 * rung is not fetched, until ufs_go().  Not for what steps the clock.
 */
Ufs *ufs_start_still(const char *knobs);
void ufs_go(Ufs *u);
/* ... and the register has that value, which must come. */
void ufs_wait(Ufs *u, uint32_t reg, uint32_t val);
/* Save it, restore it in a new QEMU at the same virtual time. */
void ufs_migrate(Ufs *u, const char *knobs);
/* Checks that no request is unaccounted for. */
void ufs_stop(Ufs *u);
/* Host controller on, link up, lists set, completion interrupts on. */
void ufs_up(Ufs *u);
Ufs *ufs_start_up(const char *knobs);

uint32_t ufs_read(Ufs *u, uint32_t reg);
void ufs_write(Ufs *u, uint32_t reg, uint32_t val);
/* Both UIC command and its result code, which is returned. */
uint32_t ufs_uic(Ufs *u, uint32_t opcode, uint16_t attr, uint32_t *value);
/* UIC has set IS.UCCS: take it away. */
void ufs_ack_all(Ufs *u);

void ufs_step(Ufs *u, int64_t ns);
void ufs_step_to(Ufs *u, int64_t when);

/* MSI to a word of guest memory: raised or not since the last look. */
void ufs_msi_on(Ufs *u);
bool ufs_msi_taken(Ufs *u);
/* PCI status register: the INTx line. */
bool ufs_intx(Ufs *u);

/* Prepare a slot; nothing rings. */
void ufs_prep_upiu(Ufs *u, unsigned slot, const void *upiu, size_t len,
                   uint32_t direction, unsigned nr_prd);
void ufs_prep_nop(Ufs *u, unsigned slot);
void ufs_prep_query(Ufs *u, unsigned slot, bool write, uint8_t opcode,
                    uint8_t idn, uint8_t index, uint32_t value);
void ufs_prep_scsi(Ufs *u, unsigned slot, uint8_t lun, const uint8_t *cdb,
                   uint32_t direction, uint32_t bytes);
void ufs_prep_rw(Ufs *u, unsigned slot, bool write, uint32_t lba,
                 uint16_t blocks);
/* Change one field of a prepared UTRD, by its dword. */
void ufs_set_utrd(Ufs *u, unsigned slot, unsigned dword, uint32_t val);
void ufs_set_prd(Ufs *u, unsigned slot, unsigned i, uint64_t addr,
                 uint32_t size);

void ufs_ring(Ufs *u, uint32_t slots);
bool ufs_busy(Ufs *u, uint32_t slots);
/* Ring, then step until the doorbell has returned. */
void ufs_run(Ufs *u, unsigned slot);
/* Run one SCSI command in slot 0, with @bytes for its data at UFS_DATA(0). */
void ufs_scsi(Ufs *u, uint8_t lun, const uint8_t *cdb, uint32_t bytes);
uint32_t ufs_ocs(Ufs *u, unsigned slot);
void ufs_response(Ufs *u, unsigned slot, UtpUpiuRsp *rsp);
/* ocs and SCSI status must be good. */
void ufs_expect_good(Ufs *u, unsigned slot);
void ufs_expect_sense(Ufs *u, unsigned slot, uint8_t key, uint8_t asc,
                      uint8_t ascq);

/* The well-known units. */
#define UFS_WLUNS 4
extern const uint8_t ufs_wluns[UFS_WLUNS];
/* ufs_scsi() with data to the device, from UFS_DATA(0). */
void ufs_scsi_out(Ufs *u, uint8_t lun, const uint8_t *cdb, uint32_t bytes);
/* TEST UNIT READY: good, or a unit attention. */
void ufs_expect_ready(Ufs *u, uint8_t lun);
void ufs_expect_attention(Ufs *u, uint8_t lun, uint8_t asc, uint8_t ascq);
/* REQUEST SENSE: good, with this in its data. */
void ufs_expect_sense_data(Ufs *u, uint8_t lun, uint8_t key, uint8_t asc);

/* Run a query in slot 0; returns the query response code. */
uint8_t ufs_query(Ufs *u, bool write, uint8_t opcode, uint8_t idn,
                  uint8_t index, uint32_t value, UtpUpiuRsp *rsp);
/* Task management; returns the service response. */
uint32_t ufs_task(Ufs *u, uint8_t function, uint32_t lun, uint32_t tag);

QDict *ufs_stats(Ufs *u);
/* A number by its path, such as "requests.fetched". */
uint64_t ufs_stat(Ufs *u, const char *path);
/* NULL if the property of @path could be set, or why not; to be freed. */
char *ufs_set_word(Ufs *u, const char *path, const char *name,
                   const char *word);
/* True if the property could be set. */
bool ufs_set_knob(Ufs *u, const char *name, uint64_t value);

void ufs_fill(Ufs *u, uint64_t addr, uint32_t bytes, uint32_t seed);
void ufs_check(Ufs *u, uint64_t addr, uint32_t bytes, uint32_t seed);

/* The parts of the program. */
void add_protocol_tests(void);
void add_scsi_tests(void);
void add_unit_tests(void);
void add_query_tests(void);
void add_task_tests(void);
void add_knob_tests(void);
void add_timing_tests(void);
void add_hostile_tests(void);
void add_migrate_tests(void);

#endif
