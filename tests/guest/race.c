/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One read that begins at an exact moment, for races with a driver's timeout.
 *
 *   race write DEVICE          writes the pattern
 *   race read DEVICE PHASE     reads it at the next moment, 3 s away or more,
 *                              that is PHASE ns after a multiple of 256 ms
 *
 * 256 ms are 64 ticks at HZ=250, to which the kernel rounds a timer of two
 * seconds; 3 s, and no timer of the last request is left. Prints "ok" when what
 * was read is the pattern.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BYTES     (256 * 1024)
#define PERIOD_NS INT64_C(256000000)
#define PAUSE_NS  INT64_C(3000000000)
#define SPIN_NS   INT64_C(1000000)
#define SECOND_NS INT64_C(1000000000)

static int64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * SECOND_NS + ts.tv_nsec;
}

/* Sleep until shortly before, then spin. */
static void wait_for(int64_t when)
{
    int64_t wake = when - SPIN_NS;
    struct timespec ts = { wake / SECOND_NS, wake % SECOND_NS };

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL)) {
    }
    while (now_ns() < when) {
    }
}

static int64_t next_moment(int64_t phase)
{
    int64_t first = now_ns() + PAUSE_NS;

    return (first / PERIOD_NS + 1) * PERIOD_NS + phase;
}

static void fill(uint32_t *buf)
{
    unsigned i;

    for (i = 0; i < BYTES / sizeof(*buf); i++) {
        buf[i] = i * 0x9e3779b1u + 1;
    }
}

static int fail(const char *what)
{
    printf("%s: %s\n", what, strerror(errno));
    return 1;
}

int main(int argc, char **argv)
{
    uint32_t *buf = aligned_alloc(4096, BYTES);
    uint32_t *pattern = aligned_alloc(4096, BYTES);
    int fd;

    if (argc < 3 || !buf || !pattern) {
        fprintf(stderr, "usage: race write DEVICE | read DEVICE PHASE\n");
        return 2;
    }
    fd = open(argv[2], O_RDWR | O_DIRECT);
    if (fd < 0) {
        return fail(argv[2]);
    }
    fill(pattern);
    if (!strcmp(argv[1], "write")) {
        return pwrite(fd, pattern, BYTES, 0) == BYTES ? 0 : fail("write");
    }
    memset(buf, 0xee, BYTES);
    wait_for(next_moment(argc > 3 ? atoll(argv[3]) : 0));
    if (pread(fd, buf, BYTES, 0) != BYTES) {
        return fail("read");
    }
    puts(memcmp(buf, pattern, BYTES) ? "wrong data" : "ok");
    return 0;
}
