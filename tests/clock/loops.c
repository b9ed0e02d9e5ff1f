// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How fast vCPUs run, and how their clocks go together.
 */
#include "guest.h"

#include <inttypes.h>

#define ADDRESSES 64

static uint64_t rounds;
static uint64_t until_ns;

/* A fixed number of instructions, with loads, stores and branches among them. */
static uint64_t work(uint64_t count)
{
	volatile uint32_t memory[ADDRESSES] = { 1 };
	uint64_t odd = 0;

	for (uint64_t i = 0; i < count; i++) {
		uint32_t value = memory[(i * 7) % ADDRESSES] * 3 + (uint32_t)i;

		memory[i % ADDRESSES] = value;
		odd += value & 1;
	}
	return odd;
}

static void timed_work(struct worker *self)
{
	work(1000);
	self->ns[0] = now_ns();
	self->count = work(rounds);
	self->ns[1] = now_ns();
}

int cmd_loop(char **argv)
{
	static struct worker workers[MAX_CPUS];
	int cpus = atoi(argv[1]);

	rounds = strtoull(argv[2], NULL, 0);
	start_workers(workers, 0, cpus - 1, timed_work);
	join_workers(workers, cpus);
	printf("{\"test\":\"loop\",\"cpus\":%d,\"ns\":[", cpus);
	for (int i = 0; i < cpus; i++)
		printf("%s%" PRIu64, i ? "," : "", workers[i].ns[1] - workers[i].ns[0]);
	printf("]}\n");
	return 0;
}

static void spin_body(struct worker *self)
{
	while (now_ns() < until_ns) {
		work(1000);
		self->count++;
	}
}

int cmd_spin(char **argv)
{
	static struct worker workers[MAX_CPUS];
	int cpus = atoi(argv[1]);
	uint64_t total = 0;

	until_ns = now_ns() + strtoull(argv[2], NULL, 0) * 1000000;
	start_workers(workers, 0, cpus - 1, spin_body);
	join_workers(workers, cpus);
	for (int i = 0; i < cpus; i++)
		total += workers[i].count;
	printf("{\"test\":\"spin\",\"cpus\":%d,\"loops\":%" PRIu64 "}\n", cpus, total);
	return 0;
}

/*
 * Every thread looks at the latest time that any thread has published, reads
 * its own clock, and publishes that in turn.  A clock that is behind what was
 * seen before is skew; one that is behind its own last value is an error.
 */
static _Atomic uint64_t published;

static void skew_body(struct worker *self)
{
	uint64_t last = 0, worst = 0, backwards = 0;

	for (uint64_t i = 0; i < rounds; i++) {
		uint64_t seen = atomic_load(&published);
		uint64_t now = now_ns();

		if (now < last)
			backwards++;
		last = now;
		if (seen > now && seen - now > worst)
			worst = seen - now;
		while (seen < now && !atomic_compare_exchange_weak(&published, &seen, now))
			;
	}
	self->ns[0] = worst;
	self->count = backwards;
}

int cmd_skew(char **argv)
{
	static struct worker workers[MAX_CPUS];
	int cpus = atoi(argv[1]);
	uint64_t worst = 0, backwards = 0;

	rounds = strtoull(argv[2], NULL, 0);
	start_workers(workers, 0, cpus - 1, skew_body);
	join_workers(workers, cpus);
	for (int i = 0; i < cpus; i++) {
		backwards += workers[i].count;
		if (workers[i].ns[0] > worst)
			worst = workers[i].ns[0];
	}
	printf("{\"test\":\"skew\",\"cpus\":%d,\"max_skew_ns\":%" PRIu64 ",\"backwards\":%" PRIu64 "}\n",
	       cpus, worst, backwards);
	return 0;
}

int cmd_pause(char **argv)
{
	uint64_t ms = strtoull(argv[1], NULL, 0);
	uint64_t count = 0, end;

	pin_to(0);
	for (end = now_ns() + ms * 1000000; now_ns() < end; count++)
		cpu_pause();
	printf("{\"test\":\"pause\",\"ms\":%" PRIu64 ",\"count\":%" PRIu64 "}\n", ms, count);
	return 0;
}
