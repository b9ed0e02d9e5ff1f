/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the programs that measure virtual time from inside share.
 *
 * They run as threads that are each tied to one vCPU and print one JSON object
 * a line.  Time is the time stamp counter: in virtual time it counts
 * nanoseconds, and reading it is one instruction, without the kernel.
 */
#ifndef CLOCK_GUEST_H
#define CLOCK_GUEST_H

#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_CPUS 64

struct worker {
	pthread_t thread;
	int cpu;
	void (*body)(struct worker *);
	uint64_t ns[2];		/* what the body measured */
	uint64_t count;
};

static inline uint64_t now_ns(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return ((uint64_t)high << 32) | low;
}

static inline void cpu_pause(void)
{
	__asm__ volatile("pause" : : : "memory");
}

/* Exit with a message when a call that cannot fail has failed. */
void need(bool good, const char *what);

/* Tie the calling thread to a vCPU. */
void pin_to(int cpu);

/* Run body in a thread on each of the vCPUs first..last; all start together. */
void start_workers(struct worker *workers, int first, int last, void (*body)(struct worker *));
void join_workers(struct worker *workers, int count);

/* Threads that compute on vCPUs first..last until stop_busy(). */
void start_busy(int first, int last);
void stop_busy(void);

/* Sort the samples and print {"test":NAME,EXTRA,"n":..,"min":..,...}. */
void print_samples(const char *test, const char *extra, int64_t *samples, int count);

/* A small generator, so that two runs do the same. */
uint32_t next_random(uint32_t *state);

/* The commands; argv[0] is the name of the command, the number of arguments is right. */
int cmd_loop(char **argv);
int cmd_sleep(char **argv);
int cmd_wake(char **argv);
int cmd_signal(char **argv);
int cmd_skew(char **argv);
int cmd_pause(char **argv);
int cmd_spin(char **argv);

#endif
