/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One SCSI command to a disk, past the file system and the block layer's
 * caches, by the kernel's SG_IO: what sg_raw of sg3_utils does.
 *
 *   sg DEVICE in BYTES CDB     prints the data as hex
 *   sg DEVICE out DATA CDB     DATA and CDB in hex
 *   sg DEVICE none CDB
 *
 * Exit status 0; 1 with "status SS sense K/AA/QQ" when the unit says so; 2 when
 * the command did not come through.
 */

#include <errno.h>
#include <fcntl.h>
#include <scsi/sg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define MAX_DATA   65536
#define MAX_CDB    16
#define TIMEOUT_MS 20000

static unsigned char data[MAX_DATA], cdb[MAX_CDB], sense[64];

static int fail(const char *what, const char *detail)
{
    fprintf(stderr, "sg: %s: %s\n", what, detail);
    return 2;
}

/* Bytes of a text of hex digits, or -1. */
static int parse_hex(const char *text, unsigned char *to, int most)
{
    int n = 0;

    for (; text[0] && text[1]; text += 2, n++) {
        char pair[3] = { text[0], text[1], '\0' }, *end;

        if (n == most) {
            return -1;
        }
        to[n] = strtoul(pair, &end, 16);
        if (*end) {
            return -1;
        }
    }
    return *text ? -1 : n;
}

static int run(int fd, int direction, int bytes, int cdb_len)
{
    sg_io_hdr_t io = {
        .interface_id = 'S',
        .dxfer_direction = direction,
        .cmd_len = cdb_len,
        .mx_sb_len = sizeof(sense),
        .dxfer_len = bytes,
        .dxferp = data,
        .cmdp = cdb,
        .sbp = sense,
        .timeout = TIMEOUT_MS,
    };
    int i;

    if (ioctl(fd, SG_IO, &io) < 0) {
        return fail("SG_IO", strerror(errno));
    }
    if (io.status) {
        printf("status %02x sense %x/%02x/%02x\n", io.status, sense[2] & 0xf,
               sense[12], sense[13]);
        return 1;
    }
    if (io.host_status || (io.driver_status & 0xf)) {
        return fail("SG_IO", "the command did not reach the unit");
    }
    if (direction == SG_DXFER_FROM_DEV) {
        for (i = 0; i < bytes - io.resid; i++) {
            printf("%02x", data[i]);
        }
        printf("\n");
    }
    return 0;
}

int main(int argc, char **argv)
{
    int direction = SG_DXFER_NONE, bytes = 0, fd, cdb_len;

    if (argc == 5 && !strcmp(argv[2], "in")) {
        direction = SG_DXFER_FROM_DEV;
        bytes = atoi(argv[3]);
    } else if (argc == 5 && !strcmp(argv[2], "out")) {
        direction = SG_DXFER_TO_DEV;
        bytes = parse_hex(argv[3], data, MAX_DATA);
    } else if (argc != 4 || strcmp(argv[2], "none")) {
        return fail("usage", "sg DEVICE in BYTES CDB | out DATA CDB | "
                    "none CDB");
    }
    cdb_len = parse_hex(argv[argc - 1], cdb, MAX_CDB);
    if (bytes < 0 || bytes > MAX_DATA || cdb_len < 6) {
        return fail("usage", "bytes or CDB are out of range");
    }
    fd = open(argv[1], O_RDWR | O_NONBLOCK);
    if (fd < 0) {
        fd = open(argv[1], O_RDONLY | O_NONBLOCK);      /* write-protected */
    }
    if (fd < 0) {
        return fail(argv[1], strerror(errno));
    }
    return run(fd, direction, bytes, cdb_len);
}
