/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the pure files (policy, hist, series) need from their surroundings, so that
 * the same text builds into the module and into the host's unit tests.
 */
#ifndef IRQBED_PURE_H
#define IRQBED_PURE_H

#ifdef __KERNEL__

#include <linux/bitops.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/types.h>

#else

#include <stdbool.h>
#include <string.h>

typedef unsigned int u32;
typedef unsigned long long u64;

#define U64_MAX (~0ull)

/* Position of the highest set bit, counted from 1; 0 for 0. */
static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

#endif /* __KERNEL__ */

#endif /* IRQBED_PURE_H */
