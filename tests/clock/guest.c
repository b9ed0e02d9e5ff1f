// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures virtual time from inside the guest; one command a run.
 * Here: threads on vCPUs, samples, and the list of commands.
 */
#include "guest.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>

static atomic_int waiting;
static atomic_bool may_start;
static atomic_bool busy_stops;
static struct worker busy_workers[MAX_CPUS];
static int busy_count;

void need(bool good, const char *what)
{
	if (!good) {
		perror(what);
		exit(1);
	}
}

void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	need(!sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
}

static void *worker_main(void *opaque)
{
	struct worker *self = opaque;

	pin_to(self->cpu);
	atomic_fetch_sub(&waiting, 1);
	while (!atomic_load(&may_start))
		cpu_pause();
	self->body(self);
	return NULL;
}

void start_workers(struct worker *workers, int first, int last, void (*body)(struct worker *))
{
	atomic_store(&may_start, false);
	atomic_store(&waiting, last - first + 1);
	for (int i = 0; i <= last - first; i++) {
		workers[i] = (struct worker){ .cpu = first + i, .body = body };
		need(!pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]),
		     "pthread_create");
	}
	while (atomic_load(&waiting))
		sched_yield();
	atomic_store(&may_start, true);
}

void join_workers(struct worker *workers, int count)
{
	for (int i = 0; i < count; i++)
		pthread_join(workers[i].thread, NULL);
}

static void be_busy(struct worker *self)
{
	while (!atomic_load_explicit(&busy_stops, memory_order_relaxed))
		self->count++;
}

void start_busy(int first, int last)
{
	busy_count = last - first + 1;
	atomic_store(&busy_stops, false);
	if (busy_count > 0)
		start_workers(busy_workers, first, last, be_busy);
}

void stop_busy(void)
{
	atomic_store(&busy_stops, true);
	if (busy_count > 0)
		join_workers(busy_workers, busy_count);
}

uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

void print_samples(const char *test, const char *extra, int64_t *samples, int count)
{
	int64_t sum = 0;

	qsort(samples, count, sizeof(*samples), compare);
	for (int i = 0; i < count; i++)
		sum += samples[i];
	printf("{\"test\":\"%s\",%s,\"n\":%d,\"mean\":%" PRId64 ",\"min\":%" PRId64
	       ",\"p1\":%" PRId64 ",\"p50\":%" PRId64 ",\"p99\":%" PRId64 ",\"max\":%" PRId64 "}\n",
	       test, extra, count, sum / count, samples[0], samples[count / 100],
	       samples[count / 2], samples[count * 99 / 100], samples[count - 1]);
}

static const struct {
	const char *name;
	int (*run)(char **argv);
	int arguments;
	const char *help;
} commands[] = {
	{ "loop", cmd_loop, 2, "CPUS ROUNDS         the same loop on vCPUs 0..CPUS-1" },
	{ "sleep", cmd_sleep, 3, "CPU COUNT BUSY      how late a timer wakes, beside BUSY vCPUs" },
	{ "wake", cmd_wake, 4, "FROM TO COUNT BUSY  wake a thread on a halted vCPU" },
	{ "signal", cmd_signal, 3, "FROM TO COUNT       interrupt a busy vCPU" },
	{ "skew", cmd_skew, 2, "CPUS COUNT          order of clock reads, own and others'" },
	{ "pause", cmd_pause, 1, "MS                  how often PAUSE fits into MS" },
	{ "spin", cmd_spin, 2, "CPUS MS             a busy loop on vCPUs 0..CPUS-1" },
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!strcmp(argv[1], commands[i].name) && argc == commands[i].arguments + 2)
			return commands[i].run(argv + 1);
	}
	fprintf(stderr, "usage: clock-guest COMMAND ARGUMENT...\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(stderr, "  %-7s %s\n", commands[i].name, commands[i].help);
	return 2;
}
