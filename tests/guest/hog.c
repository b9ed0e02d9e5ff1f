// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * "hog CPU MS": has a CPU for itself for so long, before every thread of a normal
 * real-time priority, as the tests of starvation need it.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

int main(int argc, char **argv)
{
	struct sched_param param = { .sched_priority = 80 };
	long long end_ns;
	cpu_set_t set;

	if (argc != 3) {
		fprintf(stderr, "usage: hog CPU MS\n");
		return 2;
	}
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[1]), &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("sched_setaffinity");
		return 1;
	}
	if (sched_setscheduler(0, SCHED_FIFO, &param)) {
		perror("sched_setscheduler");
		return 1;
	}
	end_ns = now_ns() + atol(argv[2]) * 1000000ll;
	while (now_ns() < end_ns)
		;
	return 0;
}
