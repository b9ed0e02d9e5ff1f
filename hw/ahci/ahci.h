/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * AHCI 1.3.1 host bus adapter and the SATA drives on its ports: state, and
 * what the files of this folder offer each other.
 *
 * Who is who: the HBA moves FISes and data and owns all registers (mmio.c,
 * port.c, fis.c, xfer.c, irq.c, ccc.c); a drive gives meaning to commands
 * (ata.c, identify.c, log.c, drive.c).  Everything runs under the BQL.
 */

#ifndef HW_IRQBED_AHCI_H
#define HW_IRQBED_AHCI_H

#include "qemu/units.h"
#include "hw/block/block.h"
#include "../core/ctrl.h"
#include "ata.h"
#include "regs.h"

#define TYPE_IRQBED_AHCI "irqbed-ahci"
OBJECT_DECLARE_SIMPLE_TYPE(IrqbedAhci, IRQBED_AHCI)
#define TYPE_IRQBED_AHCI_DRIVE "irqbed-ahci-drive"
OBJECT_DECLARE_SIMPLE_TYPE(IrqbedAhciDrive, IRQBED_AHCI_DRIVE)
#define TYPE_IRQBED_AHCI_BUS "irqbed-ahci-bus"

typedef struct IrqbedAhciPort IrqbedAhciPort;
typedef struct IrqbedAhciReq IrqbedAhciReq;

/* How a command's data goes, Serial ATA 3.1, 11 */
typedef enum AtaProtocol {
    ATA_PROTO_NONE,
    ATA_PROTO_PIO_IN,
    ATA_PROTO_PIO_OUT,
    ATA_PROTO_DMA_IN,
    ATA_PROTO_DMA_OUT,
    ATA_PROTO_NCQ_IN,
    ATA_PROTO_NCQ_OUT,
} AtaProtocol;

typedef enum AtaFlags {
    ATA_EXT = 1,                /* 48-bit addresses and 16-bit counts */
    ATA_FUA = 2,
    ATA_MULTIPLE = 4,           /* DRQ blocks as SET MULTIPLE MODE says */
} AtaFlags;

typedef struct AtaCommand {
    /* D2: decide what is to be done, or irqbed_ahci_ata_fail() */
    void (*prepare)(IrqbedAhciReq *r);
    uint8_t proto;              /* AtaProtocol */
    uint8_t flags;              /* AtaFlags */
} AtaCommand;

/* A command slot of a port. */
struct IrqbedAhciReq {
    IrqbedReq core;
    IrqbedAhciPort *port;

    AhciCmdHeader header;
    FisH2d fis;
    const AtaCommand *ata;
    bool aborted;               /* what ata is, for vmstate.c alone */
    uint64_t lba;
    uint32_t sectors;
    uint32_t bytes;             /* that the command moves */
    uint32_t fatal;             /* PxIS bits: the HBA cannot go on */
    bool prd_irq;               /* a PRD in use asks for an interrupt */
    uint8_t error;              /* ATA error; 0: good */
    uint8_t out_error;          /* what a good command has there */
    /* what the register FIS says besides status and error */
    uint64_t out_lba;
    uint16_t out_count;
    uint8_t out_device;
};

/* What a drive remembers between commands. */
typedef struct AtaState {
    uint16_t power;             /* ATA_POWER_* */
    uint8_t multiple;           /* sectors per DRQ block, 0: not set */
    uint8_t transfer_mode;      /* as SET FEATURES 03h gave it */
    bool write_cache;
    bool look_ahead;
    bool smart;
    bool in_soft_reset;         /* SRST seen, its end not yet */
    bool queue_failed;          /* aborts all until log 10h is read */
    uint8_t queue_error[ATA_LOG_PAGE_BYTES];
} AtaState;

struct IrqbedAhciDrive {
    DeviceState parent_obj;

    BlockConf conf;
    uint8_t port;
    char *serial;
    char *model;
    char *version;
    uint64_t wwn;
    uint16_t rotation_rate;

    IrqbedStore store;
    AtaState ata;
};

struct IrqbedAhciPort {
    IrqbedAhci *hba;
    IrqbedAhciDrive *drive;     /* NULL: nothing is attached */
    uint8_t nr;

    /* registers */
    uint64_t clb;
    uint64_t fb;
    uint32_t is;                /* without the bits that PxSERR reflects */
    uint32_t ie;
    uint32_t cmd;               /* without CCS, FR, CR and constant bits */
    uint32_t tfd;
    uint32_t sig;
    uint32_t ssts;
    uint32_t sctl;
    uint32_t serr;
    uint32_t sact;
    uint32_t ci;

    /* the command engine; see port.c */
    uint8_t slot;               /* PxCMD.CCS */
    uint8_t next;               /* first choice for the next command */
    bool halted;                /* after an error, until ST is cleared */
    bool signature_due;         /* the FIS after a reset is not taken yet */
    uint32_t queued;            /* slots with a queued command under way */
    IrqbedAhciReq reqs[IRQBED_AHCI_MAX_SLOTS];
};

/* Command completion coalescing, AHCI 1.3.1, 11; see ccc.c. */
typedef struct IrqbedAhciCcc {
    uint32_t ctl;
    uint32_t ports;
    uint32_t completions;       /* hCccComplete */
    int64_t left_ns;            /* hCccTimer, while it stands still */
    QEMUTimer *timer;
} IrqbedAhciCcc;

struct IrqbedAhci {
    IrqbedCtrl parent_obj;

    uint32_t nr_ports;
    uint32_t msi_vectors;
    bool ccc_wanted;
    bool ich9;

    MemoryRegion mmio;
    BusState bus;
    uint32_t ghc;
    uint32_t is;
    uint32_t bohc;
    IrqbedAhciCcc ccc;
    IrqbedAhciPort *ports;
};

static inline uint32_t irqbed_ahci_slots_mask(IrqbedAhci *h)
{
    return MAKE_64BIT_MASK(0, IRQBED_CTRL(h)->knobs.queue_depth);
}

static inline uint32_t irqbed_ahci_ports_mask(IrqbedAhci *h)
{
    return MAKE_64BIT_MASK(0, h->nr_ports);
}

static inline bool irqbed_ahci_is_queued(const IrqbedAhciReq *r)
{
    return r->ata && r->ata->proto >= ATA_PROTO_NCQ_IN;
}

/* hba.c: reset of everything but the drives' media; @c is idle after it */
void irqbed_ahci_hba_reset(IrqbedAhci *h);

/* mmio.c */
extern const MemoryRegionOps irqbed_ahci_mmio_ops;

/* irq.c: from PxIS to the interrupt, 10.6.2 */
unsigned irqbed_ahci_vectors(IrqbedCtrl *c);
bool irqbed_ahci_irq_level(IrqbedCtrl *c, unsigned vector);
/* The vector of a port, or of the CCC interrupt. */
unsigned irqbed_ahci_vector(IrqbedAhci *h, unsigned source);
uint32_t irqbed_ahci_ghc(IrqbedAhci *h);
uint32_t irqbed_ahci_port_is(IrqbedAhciPort *p);
/* The guest reads IS, or PxIS. */
void irqbed_ahci_hba_status_read(IrqbedAhci *h);
void irqbed_ahci_port_status_read(IrqbedAhciPort *p);
/* Status bits come on; the caller raises, or the core at D5. */
void irqbed_ahci_port_set(IrqbedAhciPort *p, uint32_t bits);
/* ... and raise, for what is no completion's. */
void irqbed_ahci_port_event(IrqbedAhciPort *p, uint32_t bits);
void irqbed_ahci_port_ack(IrqbedAhciPort *p, uint32_t bits);
void irqbed_ahci_port_serr_ack(IrqbedAhciPort *p, uint32_t bits);
void irqbed_ahci_port_enable(IrqbedAhciPort *p, uint32_t ie);
void irqbed_ahci_hba_ack(IrqbedAhci *h, uint32_t bits);
/* Which vector is whose, or whether any is, may have changed. */
void irqbed_ahci_irq_refresh(IrqbedAhci *h);

/* fault.c */
extern const char *const irqbed_ahci_fault_statuses[];
bool irqbed_ahci_fault(IrqbedCtrl *c, const IrqbedFaultCall *call);

/* ccc.c */
void irqbed_ahci_ccc_realize(IrqbedAhci *h);
void irqbed_ahci_ccc_unrealize(IrqbedAhci *h);
void irqbed_ahci_ccc_reset(IrqbedAhci *h);
bool irqbed_ahci_has_ccc(IrqbedAhci *h);
bool irqbed_ahci_ccc_is_enabled(IrqbedAhci *h);
unsigned irqbed_ahci_ccc_int(IrqbedAhci *h);
void irqbed_ahci_ccc_write(IrqbedAhci *h, uint32_t ctl);
void irqbed_ahci_ccc_select(IrqbedAhci *h, uint32_t ports);
/* A command of this port is complete. */
void irqbed_ahci_ccc_completion(IrqbedAhciPort *p);
/* The commands outstanding have changed. */
void irqbed_ahci_ccc_update(IrqbedAhci *h);

/* port.c: command engine and link */
void irqbed_ahci_port_reset(IrqbedAhciPort *p);
void irqbed_ahci_port_command(IrqbedAhciPort *p, uint32_t cmd);
void irqbed_ahci_port_issue(IrqbedAhciPort *p, uint32_t slots);
void irqbed_ahci_port_activate(IrqbedAhciPort *p, uint32_t slots);
void irqbed_ahci_port_control(IrqbedAhciPort *p, uint32_t sctl);
/* Take the register FIS that follows a reset, if nothing is in its way. */
void irqbed_ahci_port_signature(IrqbedAhciPort *p);
/* Fetch what may be fetched now. */
void irqbed_ahci_port_run(IrqbedAhciPort *p);
/* The drive drops what it works on unanswered; its units are free at once. */
void irqbed_ahci_port_abandon(IrqbedAhciPort *p);
/* ... and software has stopped the port: PxCI and PxSACT are 0. */
void irqbed_ahci_port_clear(IrqbedAhciPort *p);
/* An error: nothing is fetched until software has cleared PxCMD.ST. */
void irqbed_ahci_port_halt(IrqbedAhciPort *p);
void irqbed_ahci_port_plug(IrqbedAhciPort *p, IrqbedAhciDrive *drive);
void irqbed_ahci_port_unplug(IrqbedAhciPort *p);
/* Commands under way stay as they are until software stops the port. */
void irqbed_ahci_port_link_lost(IrqbedAhciPort *p);
void irqbed_ahci_port_link_back(IrqbedAhciPort *p);

/* fis.c: FISes that the drive sends; false if memory cannot be written */
bool irqbed_ahci_fis_d2h(IrqbedAhciPort *p, const IrqbedAhciReq *r,
                         uint8_t status, uint8_t error, bool irq);
bool irqbed_ahci_fis_pio_setup(IrqbedAhciReq *r, uint8_t status,
                               uint8_t e_status, uint16_t bytes);
bool irqbed_ahci_fis_sdb(IrqbedAhciPort *p, uint32_t done, uint8_t status,
                         uint8_t error);

/* xfer.c: one command, D1, D2 and D4 */
void irqbed_ahci_fetch(IrqbedAhciPort *p, unsigned slot);
unsigned irqbed_ahci_answer(IrqbedReq *core);
/* Segments for the first @bytes of the command's table; false: see fatal. */
bool irqbed_ahci_fetch_prdt(IrqbedAhciReq *r, uint32_t bytes);

/* ata.c */
extern const AtaCommand irqbed_ahci_ata_aborted;
const AtaCommand *irqbed_ahci_ata_command(const FisH2d *fis);
/* Does the drive abort this command whatever it is? */
bool irqbed_ahci_ata_refuses(const IrqbedAhciDrive *d, const FisH2d *fis);
void irqbed_ahci_ata_prepare(IrqbedAhciReq *r);
/* D4: the medium failed. */
void irqbed_ahci_ata_medium_error(IrqbedAhciReq *r);
/* Bytes of a DRQ block of a PIO command. */
uint32_t irqbed_ahci_ata_block_bytes(const IrqbedAhciReq *r);
void irqbed_ahci_ata_fail(IrqbedAhciReq *r, uint8_t error);
/* The reply in core.buf, @bytes long, goes to the guest. */
void irqbed_ahci_ata_reply(IrqbedAhciReq *r, uint32_t bytes);
/* Room for a reply, zeroed. */
uint8_t *irqbed_ahci_ata_buffer(IrqbedAhciReq *r, uint32_t bytes);
void irqbed_ahci_ata_reset(IrqbedAhciDrive *d, bool power_on);

/* features.c: SET FEATURES, power modes, SMART */
void irqbed_ahci_set_features(IrqbedAhciReq *r);
void irqbed_ahci_power(IrqbedAhciReq *r);
void irqbed_ahci_check_power(IrqbedAhciReq *r);
void irqbed_ahci_smart(IrqbedAhciReq *r);
void irqbed_ahci_set_multiple(IrqbedAhciReq *r);

/* identify.c */
uint8_t irqbed_ahci_drive_max_multiple(const IrqbedAhciDrive *d);
void irqbed_ahci_identify(IrqbedAhciReq *r);
uint64_t irqbed_ahci_drive_sectors(const IrqbedAhciDrive *d);

/* log.c */
void irqbed_ahci_read_log(IrqbedAhciReq *r);
/* The queue has stopped: @r failed, queued or not. */
void irqbed_ahci_log_queue_error(IrqbedAhciReq *r, uint8_t status,
                                 uint8_t error);
/* Byte 511 makes the sum of a page zero. */
void irqbed_ahci_checksum(uint8_t *page);

/* vmstate.c */
extern const VMStateDescription irqbed_ahci_vmstate;
extern const VMStateDescription irqbed_ahci_drive_vmstate;

#endif
