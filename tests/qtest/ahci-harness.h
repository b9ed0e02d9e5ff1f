/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A driver for irqbed-ahci that a qtest steps by hand: the virtual clock moves
 * only when a test says so.
 */

#ifndef TESTS_IRQBED_AHCI_HARNESS_H
#define TESTS_IRQBED_AHCI_HARNESS_H

#include "libqtest.h"
#include "libqos/pci-pc.h"
#include "qobject/qdict.h"
#include "hw/irqbed/ahci/ata.h"
#include "hw/irqbed/ahci/regs.h"

#define MAX_DRIVES  4
#define DISK_BYTES  (16 * 1024 * 1024)

/* Guest memory, at fixed places; all of a port's is in one MiB of it */
#define MEM_BASE    0x01000000ull
#define MSI_BASE    0x00f00000ull
#define CLB(p)      (MEM_BASE + (p) * 0x100000)
#define FB(p)       (CLB(p) + 0x1000)
#define TABLE(p, s) (CLB(p) + 0x2000 + (s) * 0x400)
#define DATA(p, s)  (CLB(p) + 0x20000 + (s) * 0x4000)

typedef struct Ahci {
    QTestState *qts;
    QPCIBus *bus;
    QPCIDevice *dev;
    QPCIBar bar;
    int64_t now;                /* virtual time, ns */
    char *args;
    char *bios;
    char *disks[MAX_DRIVES];
    bool unplugged;             /* there are no statistics to check */
} Ahci;

/* A command to be built; zero is a good default for most fields. */
typedef struct Cmd {
    uint8_t command;
    uint64_t lba;
    uint32_t count;             /* sectors, or what the count field holds */
    uint16_t feature;
    bool write;
    uint32_t bytes;             /* that the PRD table describes */
    uint32_t prd_bytes;         /* in each entry; 0: all in one */
    uint8_t prd_flags;          /* top byte of the entries' last dword */
    uint64_t data;              /* 0: DATA(port, slot) */
    uint8_t device;             /* besides LBA mode */
} Cmd;

/* A machine with @drives drives on an HBA with @options, firmware not run. */
Ahci *ahci_start(unsigned drives, const char *options);
/* The same, @machine instead of q35 with the HBA on its root bus. */
Ahci *ahci_start_on(const char *machine, const char *pci, unsigned drives,
                    const char *options);
void ahci_stop(Ahci *a);
/* Saved to a file, and restored in a new machine with the same options. */
void ahci_migrate(Ahci *a);

uint32_t ahci_rd(Ahci *a, uint32_t reg);
void ahci_wr(Ahci *a, uint32_t reg, uint32_t value);
uint32_t port_rd(Ahci *a, unsigned port, uint32_t reg);
void port_wr(Ahci *a, unsigned port, uint32_t reg, uint32_t value);
void ahci_step(Ahci *a, int64_t ns);

/* Lists, FIS area, all interrupts enabled, engine running. */
void port_start(Ahci *a, unsigned port);
void port_stop(Ahci *a, unsigned port);
/* Software's way out of an error: ST off and on, status cleared. */
void port_recover(Ahci *a, unsigned port);
/* PxIS and then IS, as a handler with one vector does. */
void port_ack(Ahci *a, unsigned port);

/* Write the command's header and table; issue() also rings PxCI. */
void cmd_build(Ahci *a, unsigned port, unsigned slot, const Cmd *c);
void cmd_issue(Ahci *a, unsigned port, unsigned slot, const Cmd *c);
/* Issue and step until its due time of now: 1 ns.  Expects success. */
void cmd_do(Ahci *a, unsigned port, unsigned slot, const Cmd *c);
/* The same, but expects ATA error @error, and recovers. */
void cmd_fails(Ahci *a, unsigned port, unsigned slot, const Cmd *c,
               uint8_t error);
/* A queued read or write of @sectors at @lba. */
Cmd cmd_queued(bool write, uint64_t lba, uint32_t sectors);
/* Queued commands in all @slots at once: PxSACT, then PxCI. */
void queue_issue(Ahci *a, unsigned port, uint32_t slots);

FisD2h rx_d2h(Ahci *a, unsigned port);
FisD2h rx_pio_setup(Ahci *a, unsigned port);
FisSdb rx_sdb(Ahci *a, unsigned port);
uint32_t prdbc(Ahci *a, unsigned port, unsigned slot);

/* MSI with 2^log2 vectors granted, written to RAM where tests can see it. */
void msi_enable(Ahci *a, unsigned log2);
/* How many messages came since the last call is not known, but the last. */
bool msi_take(Ahci *a, uint32_t *vector);

/* A number of the statistics, by name: "irq.raised". */
uint64_t stat_of(Ahci *a, const char *path);
void knob_set(Ahci *a, const char *name, uint64_t value);
/* The invariant of every controller. */
void check_conserved(Ahci *a);

/* The test programs' parts, one for each file */
void add_command_tests(void);
void add_queue_tests(void);
void add_irq_tests(void);
void add_link_tests(void);
void add_hostile_tests(void);
void add_migrate_tests(void);

#endif
