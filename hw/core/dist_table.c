/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tables of percentiles from and to text; see dist_table.h.  Pure.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "dist_table.h"

#define DECIMALS 6

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits at *@at, at most @max; moves *@at behind them. */
static bool parse_whole(const char **at, uint64_t max, uint64_t *value)
{
    uint64_t v = 0;

    if (!is_digit(**at)) {
        return false;
    }
    for (; is_digit(**at); (*at)++) {
        v = v * 10 + (**at - '0');
        if (v > max) {
            return false;
        }
    }
    *value = v;
    return true;
}

/* In millionths of a percent. */
static bool parse_percentile(const char **at, uint64_t *value)
{
    uint64_t whole, unit = IRQBED_PERCENT;

    if (!parse_whole(at, 100, &whole)) {
        return false;
    }
    *value = whole * IRQBED_PERCENT;
    if (**at == '.') {
        (*at)++;
        if (!is_digit(**at)) {
            return false;
        }
        for (; is_digit(**at) && unit > 1; (*at)++) {
            unit /= 10;
            *value += (**at - '0') * unit;
        }
    }
    return *value <= 100 * IRQBED_PERCENT;
}

bool irqbed_dist_table_parse(IrqbedDistTable *table, const char *text,
                             char *why)
{
    IrqbedDistTable t = { .count = 0 };
    const char *at = text;
    uint64_t percentile, ns;

    while (*at) {
        const char *point = at;

        if (!parse_percentile(&at, &percentile) || *at++ != ':' ||
            !parse_whole(&at, IRQBED_MAX_NS, &ns) || (*at && *at != ',')) {
            snprintf(why, IRQBED_DIST_WHY_BYTES, "'%.40s' is not "
                     "PERCENTILE:NS,..., from 0 to 100 (%d decimals) and "
                     "from 0 to %" PRId64, point, DECIMALS, IRQBED_MAX_NS);
            return false;
        }
        if (t.count == IRQBED_DIST_POINTS) {
            snprintf(why, IRQBED_DIST_WHY_BYTES, "more than %d points",
                     IRQBED_DIST_POINTS);
            return false;
        }
        if (t.count && (percentile <= t.percentile[t.count - 1] ||
                        ns < t.ns[t.count - 1])) {
            snprintf(why, IRQBED_DIST_WHY_BYTES, "'%.40s' is below the point "
                     "before it; percentiles must ascend, times must not "
                     "descend", point);
            return false;
        }
        t.percentile[t.count] = percentile;
        t.ns[t.count++] = ns;
        if (*at == ',' && !*++at) {
            snprintf(why, IRQBED_DIST_WHY_BYTES, "a comma at the end");
            return false;
        }
    }
    *table = t;
    return true;
}

void irqbed_dist_table_format(const IrqbedDistTable *table, char *text)
{
    uint32_t i, fraction;
    char number[16];
    size_t len;

    *text = '\0';
    for (i = 0; i < table->count; i++) {
        fraction = table->percentile[i] % IRQBED_PERCENT;
        snprintf(number, sizeof(number), "%" PRIu32 ".%06" PRIu32,
                 table->percentile[i] / IRQBED_PERCENT, fraction);
        len = strlen(number);
        while (number[len - 1] == '0') {
            len--;
        }
        number[number[len - 1] == '.' ? len - 1 : len] = '\0';
        text += sprintf(text, "%s%s:%" PRIu64, i ? "," : "", number,
                        table->ns[i]);
    }
}
