// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * When vCPUs see what they wait for: timers, and interrupts of other vCPUs.
 */
#include "guest.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_SAMPLES	20000
#define GAP_NS		30000	/* long enough for the other vCPU to go idle */

static int64_t samples[MAX_SAMPLES];
static uint64_t sent_ns[MAX_SAMPLES];
static _Atomic uint32_t sequence;
static _Atomic uint32_t received;
static _Atomic pid_t receiver_id;
static uint32_t sample_count;
static int to_cpu;

static void parse_count(const char *text)
{
	sample_count = strtoul(text, NULL, 0);
	need(sample_count > 0 && sample_count <= MAX_SAMPLES, "COUNT");
}

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* BUSY vCPUs after the given ones, or before them if it is negative. */
static void start_busy_beside(int low, int high, int busy)
{
	if (busy < 0)
		start_busy(low + busy, low - 1);
	else
		start_busy(high + 1, high + busy);
}

/* How late is a thread that sleeps until a given time? */
int cmd_sleep(char **argv)
{
	uint32_t random = 1;
	int cpu, busy;
	char extra[64];

	cpu = atoi(argv[1]);
	parse_count(argv[2]);
	busy = atoi(argv[3]);
	pin_to(cpu);
	/* Sleeping is as exact as the kernel can make it. */
	need(!prctl(PR_SET_TIMERSLACK, 1), "prctl");
	start_busy_beside(cpu, cpu, busy);
	for (uint32_t i = 0; i < sample_count; i++) {
		uint64_t due = monotonic_ns() + 20000 + next_random(&random) % 100000;

		sleep_until(due);
		samples[i] = (int64_t)(monotonic_ns() - due);
	}
	stop_busy();
	snprintf(extra, sizeof(extra), "\"cpu\":%d,\"busy\":%d", cpu, busy);
	print_samples("sleep", extra, samples, sample_count);
	return 0;
}

static void *wake_receiver(void *opaque)
{
	(void)opaque;
	pin_to(to_cpu);
	atomic_store(&receiver_id, (pid_t)syscall(SYS_gettid));
	for (uint32_t i = 0; i < sample_count; i++) {
		while (atomic_load(&sequence) == i)
			syscall(SYS_futex, &sequence, FUTEX_WAIT_PRIVATE, i, NULL, NULL, 0);
		samples[i] = (int64_t)(now_ns() - sent_ns[i]);
		atomic_store(&received, i + 1);
	}
	return NULL;
}

/*
 * One thread wakes another one, whose vCPU is halted, by an inter-processor
 * interrupt: the time from before the call to the other side's first instruction.
 */
int cmd_wake(char **argv)
{
	uint32_t random = 1;
	pthread_t thread;
	int from, busy;
	char extra[64];

	from = atoi(argv[1]);
	to_cpu = atoi(argv[2]);
	parse_count(argv[3]);
	busy = atoi(argv[4]);
	pin_to(from);
	need(!prctl(PR_SET_TIMERSLACK, 1), "prctl");
	start_busy_beside(from < to_cpu ? from : to_cpu, from > to_cpu ? from : to_cpu, busy);
	need(!pthread_create(&thread, NULL, wake_receiver, NULL), "pthread_create");
	while (!atomic_load(&receiver_id))
		sched_yield();
	for (uint32_t i = 0; i < sample_count; i++) {
		sleep_until(monotonic_ns() + GAP_NS + next_random(&random) % 10000);
		sent_ns[i] = now_ns();
		atomic_store(&sequence, i + 1);
		syscall(SYS_futex, &sequence, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		while (atomic_load(&received) != i + 1)
			sleep_until(monotonic_ns() + 1000);
	}
	pthread_join(thread, NULL);
	stop_busy();
	snprintf(extra, sizeof(extra), "\"from\":%d,\"to\":%d,\"busy\":%d", from, to_cpu, busy);
	print_samples("wake", extra, samples, sample_count);
	return 0;
}

static void on_signal(int number)
{
	uint32_t i = atomic_load(&received);

	(void)number;
	if (i < sample_count) {
		samples[i] = (int64_t)(now_ns() - sent_ns[i]);
		atomic_store(&received, i + 1);
	}
}

static void *busy_receiver(void *opaque)
{
	(void)opaque;
	pin_to(to_cpu);
	atomic_store(&receiver_id, (pid_t)syscall(SYS_gettid));
	while (atomic_load(&received) != sample_count)
		;
	return NULL;
}

/*
 * One thread interrupts another one that computes on its vCPU.  The clocks of
 * the two may differ by a quantum, so the difference can be off by that much.
 */
int cmd_signal(char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	uint32_t random = 1;
	pthread_t thread;
	char extra[64];
	int from;

	from = atoi(argv[1]);
	to_cpu = atoi(argv[2]);
	parse_count(argv[3]);
	pin_to(from);
	need(!sigaction(SIGUSR1, &action, NULL), "sigaction");
	need(!pthread_create(&thread, NULL, busy_receiver, NULL), "pthread_create");
	while (!atomic_load(&receiver_id))
		sched_yield();
	for (uint32_t i = 0; i < sample_count; i++) {
		uint64_t start = now_ns() + 20000 + next_random(&random) % 10000;

		while (now_ns() < start)
			;
		sent_ns[i] = now_ns();
		need(!syscall(SYS_tgkill, getpid(), atomic_load(&receiver_id), SIGUSR1), "tgkill");
		while (atomic_load(&received) != i + 1)
			;
	}
	pthread_join(thread, NULL);
	snprintf(extra, sizeof(extra), "\"from\":%d,\"to\":%d", from, to_cpu);
	print_samples("signal", extra, samples, sample_count);
	return 0;
}
