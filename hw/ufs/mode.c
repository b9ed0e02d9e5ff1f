/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Mode pages: MODE SENSE and MODE SELECT, 6 and 10.  UFS 3.1, 11.4.2; SPC-4;
 * SBC-3.  Stage D2.
 *
 * Two bits can be changed, of each unit for itself: WCE (write cache) and SWP
 * (software write protection).  Nothing can be saved: they are back at their
 * defaults after a reset.  There are no block descriptors.
 *
 * MODE SELECT raises no unit attention: that is for other initiators than the
 * one that sent it, and UFS has no other.
 */

#include "qemu/osdep.h"
#include "scsi/constants.h"
#include "ufs.h"

#define PAGE_ALL        0x3f
#define SUBPAGE_ALL     0xff
#define PAGE_HEADER     2
#define MAX_PAGE        20
#define WCE             0x04    /* caching, byte 2 */
#define SWP             0x08    /* control, byte 4 */
#define DEVICE_WP       0x80    /* device-specific parameter */
#define DEVICE_DPOFUA   0x10
#define SELECT_PF       0x10
#define SELECT_SP       0x01

/* Page control: MODE SENSE's byte 2 */
enum { PC_CURRENT, PC_CHANGEABLE, PC_DEFAULT, PC_SAVED };

typedef struct ModePage {
    uint8_t bytes[MAX_PAGE];    /* as after a reset; code and length first */
    uint8_t at;                 /* of the byte with the bit that may change */
    uint8_t bit;
    size_t value;               /* of that bit, in IrqbedUfsUnit */
} ModePage;

static const ModePage mode_pages[] = {
    /* Read-write error recovery */
    { { 0x01, 0x0a, 0x80, 0x03, 0, 0, 0, 0, 0x03, 0, 0xff, 0xff } },
    { { 0x08, 0x12, WCE }, 2, WCE, offsetof(IrqbedUfsUnit, write_cache) },
    { { 0x0a, 0x0a, 0, 0x10, 0, 0, 0, 0, 0xff, 0xff }, 4, SWP,
      offsetof(IrqbedUfsUnit, software_wp) },
};

static unsigned page_bytes(const ModePage *page)
{
    return PAGE_HEADER + page->bytes[1];
}

static bool *page_value(const ModePage *page, IrqbedUfsUnit *unit)
{
    return (bool *)((char *)unit + page->value);
}

static IrqbedUfsUnit *unit_of(IrqbedUfsReq *r)
{
    return &irqbed_ufs_of(r)->units[r->upiu.header.lun];
}

void irqbed_ufs_mode_reset(IrqbedUfsUnit *unit)
{
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(mode_pages); i++) {
        const ModePage *page = &mode_pages[i];

        if (page->bit) {
            *page_value(page, unit) = page->bytes[page->at] & page->bit;
        }
    }
}

static unsigned put_page(uint8_t *buf, const ModePage *page,
                         IrqbedUfsUnit *unit, uint8_t control)
{
    memcpy(buf, page->bytes, page_bytes(page));
    if (control == PC_CHANGEABLE) {
        memset(buf + PAGE_HEADER, 0, page->bytes[1]);
    }
    if (page->bit && control != PC_DEFAULT) {
        bool on = control == PC_CHANGEABLE || *page_value(page, unit);

        buf[page->at] = (buf[page->at] & ~page->bit) | (on ? page->bit : 0);
    }
    return page_bytes(page);
}

void irqbed_ufs_scsi_mode_sense(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    const uint8_t *cdb = r->upiu.sc.cdb;
    bool ten = cdb[0] == MODE_SENSE_10;
    uint8_t code = cdb[2] & 0x3f, control = cdb[2] >> 6, subpage = cdb[3];
    uint8_t buf[8 + ARRAY_SIZE(mode_pages) * MAX_PAGE] = { 0 };
    uint32_t header = ten ? 8 : 4, len = header;
    bool all = code == PAGE_ALL;
    unsigned i;

    if (control == PC_SAVED) {
        irqbed_ufs_scsi_check(r, (IrqbedUfsSense) { ILLEGAL_REQUEST, 0x39 });
        return;
    }
    for (i = 0; i < ARRAY_SIZE(mode_pages); i++) {
        if (all ? !subpage || subpage == SUBPAGE_ALL :
                  !subpage && code == mode_pages[i].bytes[0]) {
            len += put_page(buf + len, &mode_pages[i], unit_of(r), control);
        }
    }
    if (len == header) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
        return;
    }
    buf[ten ? 3 : 2] = DEVICE_DPOFUA |
                       (irqbed_ufs_is_protected(lu) ? DEVICE_WP : 0);
    if (ten) {
        stw_be_p(buf, len - 2);
    } else {
        buf[0] = len - 1;
    }
    irqbed_ufs_scsi_reply(r, buf, len, ten ? lduw_be_p(cdb + 7) : cdb[4]);
}

/* One page at @list; its length, or 0 with @sense set. */
static unsigned take_page(const uint8_t *list, uint32_t len,
                          IrqbedUfsUnit *unit, IrqbedUfsSense *sense)
{
    unsigned i, j;

    if (len < PAGE_HEADER || len < PAGE_HEADER + list[1]) {
        *sense = irqbed_ufs_bad_list_length;
        return 0;
    }
    for (i = 0; i < ARRAY_SIZE(mode_pages); i++) {
        const ModePage *page = &mode_pages[i];
        uint8_t now[MAX_PAGE];

        if (list[0] != page->bytes[0] || list[1] != page->bytes[1]) {
            continue;
        }
        put_page(now, page, unit, PC_CURRENT);
        for (j = PAGE_HEADER; j < page_bytes(page); j++) {
            if ((now[j] ^ list[j]) & (j == page->at ? ~page->bit : 0xff)) {
                *sense = irqbed_ufs_bad_list_field;
                return 0;
            }
        }
        if (page->bit) {
            *page_value(page, unit) = list[page->at] & page->bit;
        }
        return page_bytes(page);
    }
    *sense = irqbed_ufs_bad_list_field;
    return 0;
}

void irqbed_ufs_scsi_mode_select(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    const uint8_t *cdb = r->upiu.sc.cdb;
    bool ten = cdb[0] == MODE_SELECT_10;
    uint32_t len = ten ? lduw_be_p(cdb + 7) : cdb[4];
    uint32_t at = ten ? 8 : 4;
    uint8_t list[8 + ARRAY_SIZE(mode_pages) * MAX_PAGE];
    IrqbedUfsUnit changed = *unit_of(r);
    IrqbedUfsSense sense;
    unsigned n;

    if (!(cdb[1] & SELECT_PF) || (cdb[1] & SELECT_SP)) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
        return;
    }
    if (!len) {
        return;
    }
    if (len < at || len > sizeof(list)) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_bad_list_length);
        return;
    }
    if (!irqbed_ufs_scsi_parameters(r, list, len)) {
        return;
    }
    /* Block descriptor length */
    if (ten ? lduw_be_p(list + 6) : list[3]) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_bad_list_field);
        return;
    }
    /* All of it, or nothing. */
    for (; at < len; at += n) {
        n = take_page(list + at, len - at, &changed, &sense);
        if (!n) {
            irqbed_ufs_scsi_check(r, sense);
            return;
        }
    }
    *unit_of(r) = changed;
}
