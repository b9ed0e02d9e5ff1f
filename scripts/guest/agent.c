// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The guest's side of a run: takes the job file from the irqbed-ctl device,
 * does one step after the other and answers each with one JSON line.
 *
 * The steps and answers are described in docs/results.md ("Job file").  All
 * traffic goes through register accesses of the calling thread, never through
 * an interrupt, so that it costs the same virtual time on every host.
 *
 * Started by /init as the only user program; ends the machine with EXIT.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CTL_RESOURCE "/sys/bus/pci/devices/0000:00:03.0/resource0"
#define CTL_MAGIC 0x42515249u
#define CTL_BAR_SIZE 4096
#define MAX_FIELDS 128
#define MAX_CAPTURE (8u << 20)	/* bytes kept of a program's output */
#define MAX_ITEM (1u << 20)	/* bytes kept of a file that is read */

enum ctl_reg {
	CTL_REG_MAGIC = 0x00,
	CTL_REG_JOB_SIZE = 0x08,
	CTL_REG_JOB_DATA = 0x0c,
	CTL_REG_JOB_REWIND = 0x10,
	CTL_REG_OUT_DATA = 0x14,
	CTL_REG_OUT_COMMIT = 0x18,
	CTL_REG_STATS_SNAP = 0x1c,
	CTL_REG_STATS_SIZE = 0x20,
	CTL_REG_STATS_DATA = 0x24,
	CTL_REG_EXIT = 0x30,
	CTL_REG_INSNS_LO = 0x34,
	CTL_REG_INSNS_HI = 0x38,
	CTL_REG_INJECT = 0x3c,
};

/* A growing byte string; always zero terminated. */
struct buf {
	char *data;
	size_t len;
	size_t size;
};

/* One job step: its fields, unescaped. */
struct step {
	char *field[MAX_FIELDS];
	int count;
	int number;
};

/* What a program did: see step_exec(). */
struct outcome {
	struct buf out;
	struct buf err;
	int rc;
	int signal;
	bool timed_out;
};

static volatile uint32_t *ctl;
static char cell_id[256];
static int kmsg_fd = -1;

static void die(const char *what)
{
	fprintf(stderr, "irqbed-agent: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint32_t ctl_get(enum ctl_reg reg)
{
	return ctl[reg / 4];
}

static void ctl_set(enum ctl_reg reg, uint32_t val)
{
	ctl[reg / 4] = val;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* --- byte strings and JSON ------------------------------------------- */

static void buf_add(struct buf *b, const char *data, size_t len)
{
	if (b->len + len + 1 > b->size) {
		b->size = (b->len + len + 1) * 2;
		b->data = realloc(b->data, b->size);
		if (!b->data)
			die("realloc");
	}
	memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

static void buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

static void buf_num(struct buf *b, long long n)
{
	char text[32];

	buf_add(b, text, (size_t)snprintf(text, sizeof(text), "%lld", n));
}

/* Bytes outside ASCII become U+0080..U+00FF: nothing is lost or refused. */
static void buf_json(struct buf *b, const char *s, size_t len)
{
	buf_str(b, "\"");
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];
		char esc[8];

		if (c == '"' || c == '\\') {
			esc[0] = '\\';
			esc[1] = (char)c;
			buf_add(b, esc, 2);
		} else if (c == '\n') {
			buf_str(b, "\\n");
		} else if (c < 0x20 || c >= 0x7f) {
			snprintf(esc, sizeof(esc), "\\u%04x", c);
			buf_str(b, esc);
		} else {
			buf_add(b, (const char *)&s[i], 1);
		}
	}
	buf_str(b, "\"");
}

static void buf_key(struct buf *b, const char *key, const char *val, size_t len)
{
	buf_str(b, ",\"");
	buf_str(b, key);
	buf_str(b, "\":");
	buf_json(b, val, len);
}

static void buf_key_num(struct buf *b, const char *key, long long val)
{
	buf_str(b, ",\"");
	buf_str(b, key);
	buf_str(b, "\":");
	buf_num(b, val);
}

/* --- answers ---------------------------------------------------------- */

static void answer_start(struct buf *b, const char *type, const struct step *s)
{
	buf_str(b, "{\"type\":");
	buf_json(b, type, strlen(type));
	buf_key(b, "cell", cell_id, strlen(cell_id));
	buf_key_num(b, "step", s->number);
	buf_key_num(b, "t_ns", (long long)now_ns());
}

/* Hands the line over; REG says what for. */
static void line_send(const struct buf *b, enum ctl_reg reg)
{
	for (size_t i = 0; i < b->len; i += 4) {
		uint32_t word = 0;

		memcpy(&word, b->data + i, b->len - i < 4 ? b->len - i : 4);
		ctl_set(CTL_REG_OUT_DATA, word);
	}
	ctl_set(reg, (uint32_t)b->len);
}

static void answer_send(struct buf *b)
{
	buf_str(b, "}\n");
	line_send(b, CTL_REG_OUT_COMMIT);
	free(b->data);
	memset(b, 0, sizeof(*b));
}

/* --- steps ------------------------------------------------------------ */

static void read_all(int fd, struct buf *b, size_t limit)
{
	char chunk[4096];
	ssize_t n;

	while (b->len < limit && (n = read(fd, chunk, sizeof(chunk))) > 0)
		buf_add(b, chunk, (size_t)n);
}

static int step_write(const struct step *s, struct buf *b)
{
	const char *path = s->field[1];
	const char *text = s->field[2];
	int err = 0;
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0) {
		err = errno;
	} else {
		if (write(fd, text, strlen(text)) < 0)
			err = errno;
		close(fd);
	}
	buf_key(b, "path", path, strlen(path));
	buf_key_num(b, "errno", err);
	return err;
}

static int step_read(const struct step *s, struct buf *b)
{
	struct buf text = { 0 };
	int err = 0;
	int fd = open(s->field[2], O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		err = errno;
	} else {
		read_all(fd, &text, MAX_ITEM);
		close(fd);
	}
	buf_key(b, "name", s->field[1], strlen(s->field[1]));
	buf_key_num(b, "errno", err);
	buf_key(b, "text", text.data ? text.data : "", text.len);
	free(text.data);
	return err;
}

static void exec_child(char *const *argv, int out, int err)
{
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);
	dup2(null, 0);
	dup2(out, 1);
	dup2(err, 2);
	execvp(argv[0], argv);
	fprintf(stderr, "irqbed-agent: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* Take what is there from a pipe; close and forget it at its end. */
static void drain(struct pollfd *p, struct buf *b)
{
	char chunk[65536];
	ssize_t n;

	if (!(p->revents & (POLLIN | POLLHUP | POLLERR)))
		return;
	n = read(p->fd, chunk, sizeof(chunk));
	if (n <= 0) {
		close(p->fd);
		p->fd = -1;
	} else if (b->len < MAX_CAPTURE) {
		buf_add(b, chunk, (size_t)n);
	}
}

/*
 * Run argv until it ends or timeout_ms of guest time have passed; then its
 * whole process group is killed.
 */
static int run_program(char *const *argv, long timeout_ms, struct outcome *o)
{
	uint64_t end_ns = now_ns() + (uint64_t)timeout_ms * 1000000u;
	struct pollfd fds[2] = { 0 };
	int out[2], err[2], status;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		die("pipe2");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		exec_child(argv, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	fds[0] = (struct pollfd){ .fd = out[0], .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = err[0], .events = POLLIN };
	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		uint64_t t_ns = now_ns();
		int left_ms = t_ns >= end_ns ? 0 :
			      (int)((end_ns - t_ns) / 1000000u) + 1;

		if (!left_ms && !o->timed_out) {
			o->timed_out = true;
			kill(-pid, SIGKILL);
		}
		if (poll(fds, 2, o->timed_out ? -1 : left_ms) < 0)
			die("poll");
		drain(&fds[0], &o->out);
		drain(&fds[1], &o->err);
	}
	waitpid(pid, &status, 0);
	o->rc = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	o->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	return o->rc;
}

static int step_exec(struct step *s, struct buf *b)
{
	struct outcome o = { 0 };
	int rc;

	s->field[s->count] = NULL;
	rc = run_program(&s->field[3], atol(s->field[2]), &o);
	buf_key(b, "name", s->field[1], strlen(s->field[1]));
	buf_key_num(b, "rc", o.rc);
	buf_key_num(b, "signal", o.signal);
	buf_str(b, o.timed_out ? ",\"timed_out\":true" :
				 ",\"timed_out\":false");
	buf_key(b, "out", o.out.data ? o.out.data : "", o.out.len);
	buf_key(b, "err", o.err.data ? o.err.data : "", o.err.len);
	free(o.out.data);
	free(o.err.data);
	return rc;
}

/* What the device has to say: a snapshot, or why something was refused. */
static void ctl_take(struct buf *b)
{
	uint32_t size = ctl_get(CTL_REG_STATS_SIZE);

	for (uint32_t i = 0; i < size; i += 4) {
		uint32_t word = ctl_get(CTL_REG_STATS_DATA);

		buf_add(b, (const char *)&word, size - i < 4 ? size - i : 4);
	}
}

static int step_stats(const struct step *s, struct buf *b)
{
	const char *how = s->count > 2 ? s->field[2] : "";

	ctl_set(CTL_REG_STATS_SNAP, !strcmp(how, "reset") ? 2 :
		!strcmp(how, "records") ? 3 : 1);
	buf_key(b, "name", s->field[1], strlen(s->field[1]));
	buf_str(b, ",\"devices\":");
	ctl_take(b);
	return 0;
}

/* Instructions that all vCPUs have executed, of the agent itself too. */
static int step_insns(const struct step *s, struct buf *b)
{
	uint64_t insns = ctl_get(CTL_REG_INSNS_LO);

	insns |= (uint64_t)ctl_get(CTL_REG_INSNS_HI) << 32;
	buf_key(b, "name", s->field[1], strlen(s->field[1]));
	buf_key_num(b, "insns", (long long)insns);
	return 0;
}

/* A /dev/kmsg record: "prio,seq,usec,flags;text\n continuation". */
static void add_kmsg(struct buf *b, const char *record, bool first)
{
	const char *text = strchr(record, ';');
	size_t len;

	if (!text)
		return;
	len = strcspn(++text, "\n");
	buf_str(b, first ? "[" : ",[");
	buf_num(b, atoi(record) & 7);
	buf_str(b, ",");
	buf_json(b, text, len);
	buf_str(b, "]");
}

static int step_dmesg(struct buf *b)
{
	char record[8192];
	bool first = true;
	ssize_t n;

	buf_str(b, ",\"lines\":[");
	for (;;) {
		n = read(kmsg_fd, record, sizeof(record) - 1);
		if (n < 0 && errno == EPIPE)
			continue;	/* the ring moved on: some were lost */
		if (n <= 0)
			break;
		record[n] = '\0';
		add_kmsg(b, record, first);
		first = false;
	}
	buf_str(b, "]");
	return 0;
}

static void power_off(int status)
{
	ctl_set(CTL_REG_EXIT, (uint32_t)status);
	for (;;)
		pause();
}

struct step_kind {
	const char *name;
	int min_fields;
};

static const struct step_kind kinds[] = {
	{ "cell", 2 }, { "write", 3 }, { "read", 3 }, { "exec", 4 },
	{ "stats", 2 }, { "insns", 2 }, { "dmesg", 1 }, { "end", 1 },
	{ "return", 1 }, { "poweroff", 1 },
};

static const struct step_kind *find_kind(const struct step *s)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(kinds[i].name, s->field[0]) &&
		    s->count >= kinds[i].min_fields)
			return &kinds[i];
	}
	return NULL;
}

static void do_step(struct step *s)
{
	const struct step_kind *kind = find_kind(s);
	struct buf b = { 0 };
	const char *name;

	if (!kind) {
		answer_start(&b, "error", s);
		buf_key(&b, "what", s->field[0], strlen(s->field[0]));
		answer_send(&b);
		return;
	}
	name = kind->name;
	if (!strcmp(name, "cell"))
		snprintf(cell_id, sizeof(cell_id), "%s", s->field[1]);
	answer_start(&b, strcmp(name, "poweroff") ? name : "done", s);
	if (!strcmp(name, "write"))
		step_write(s, &b);
	else if (!strcmp(name, "read"))
		step_read(s, &b);
	else if (!strcmp(name, "exec"))
		step_exec(s, &b);
	else if (!strcmp(name, "stats"))
		step_stats(s, &b);
	else if (!strcmp(name, "insns"))
		step_insns(s, &b);
	else if (!strcmp(name, "dmesg"))
		step_dmesg(&b);
	answer_send(&b);
	if (!strcmp(name, "end"))
		cell_id[0] = '\0';
	if (!strcmp(name, "return"))
		exit(0);
	if (!strcmp(name, "poweroff"))
		power_off(0);
}

/* --- the job file ------------------------------------------------------ */

/* In place: \t, \n and \\ ; returns the field's start. */
static char *unescape(char *s)
{
	char *to = s;

	for (char *from = s; *from; from++) {
		if (*from != '\\' || !from[1]) {
			*to++ = *from;
			continue;
		}
		from++;
		*to++ = *from == 't' ? '\t' : *from == 'n' ? '\n' : *from;
	}
	*to = '\0';
	return s;
}

static bool parse_step(char *line, struct step *s)
{
	char *field;

	s->count = 0;
	while ((field = strsep(&line, "\t")) && s->count < MAX_FIELDS - 1)
		s->field[s->count++] = unescape(field);
	return s->count && s->field[0][0];
}

static char *load_job(void)
{
	uint32_t size = ctl_get(CTL_REG_JOB_SIZE);
	char *job = calloc(1, size + 8);

	if (!job)
		die("calloc");
	ctl_set(CTL_REG_JOB_REWIND, 1);
	for (uint32_t i = 0; i < size; i += 4) {
		uint32_t word = ctl_get(CTL_REG_JOB_DATA);

		memcpy(job + i, &word, 4);
	}
	job[size] = '\0';
	return job;
}

static void map_ctl(void)
{
	int fd = open(CTL_RESOURCE, O_RDWR | O_SYNC | O_CLOEXEC);

	if (fd < 0)
		die(CTL_RESOURCE);
	ctl = mmap(NULL, CTL_BAR_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   0);
	if (ctl == MAP_FAILED)
		die("mmap");
	if (ctl_get(CTL_REG_MAGIC) != CTL_MAGIC) {
		errno = ENODEV;
		die("irqbed-ctl");
	}
	close(fd);
}

/* "irqbed-agent stats": the snapshot on standard output, for shell tests. */
static int print_stats(void)
{
	struct step s = { .field = { "stats", "now" }, .count = 2 };
	struct buf b = { 0 };

	map_ctl();
	buf_str(&b, "{\"type\":\"stats\"");
	step_stats(&s, &b);
	printf("%s}\n", b.data);
	return 0;
}

/*
 * "irqbed-agent inject NAME TEXT": from this moment on the device NAME has these
 * injections and no others (docs/inject.md); an empty TEXT ends them all.
 */
static int inject(const char *name, const char *text)
{
	struct buf line = { 0 };
	struct buf err = { 0 };

	map_ctl();
	buf_str(&line, name);
	buf_str(&line, " ");
	buf_str(&line, text);
	line_send(&line, CTL_REG_INJECT);
	ctl_take(&err);
	if (!err.len)
		return 0;
	fprintf(stderr, "irqbed-agent: %s: %s\n", name, err.data);
	return 2;
}

int main(int argc, char **argv)
{
	char *job, *line;
	struct step s = { 0 };

	if (argc == 2 && !strcmp(argv[1], "stats"))
		return print_stats();
	if (argc == 4 && !strcmp(argv[1], "inject"))
		return inject(argv[2], argv[3]);
	map_ctl();
	kmsg_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kmsg_fd < 0)
		die("/dev/kmsg");
	job = load_job();
	while ((line = strsep(&job, "\n"))) {
		if (!*line)
			continue;
		if (parse_step(line, &s))
			do_step(&s);
		s.number++;
	}
	errno = EPROTO;
	die("the job file has no poweroff step");
}
