/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the pure files (policy, hist) need from their surroundings, so that
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
#include <stdint.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;

#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX

/* Position of the highest set bit, counted from 1; 0 for 0. */
static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

#endif /* __KERNEL__ */

#endif /* IRQBED_PURE_H */
