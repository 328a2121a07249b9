/* SPDX-License-Identifier: BSD-3-Clause */
/* Types of options for numbers with units: sizes, times and bandwidths. */
#include "ucs/config/internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ucs/sys/math.h"
#include "ucs/time/time.h"

/* Decimal and binary prefixes are not distinguished: K is 1024, as everywhere
 * in UCX. */
static const char unit_letters[] = "KMGTPE";

/* Returns the exponent of 2 for a unit letter (10 for K); 0 for any other
 * character. */
static unsigned unit_shift(char letter)
{
    const char *p = (letter == '\0') ? NULL :
                                       strchr(unit_letters, toupper(letter));

    return (p == NULL) ? 0 : 10 * (unsigned)(p - unit_letters + 1);
}

static int is_infinity(const char *text)
{
    return !strcasecmp(text, "inf") || !strcasecmp(text, "infinity");
}

/* Parses a size in bytes, such as "4k", "4kb", "64", "64b" or "1.5m", "inf" or
 * "auto". */
ucs_status_t ucs_str_to_memunits(const char *text, void *dest)
{
    size_t *value_p = dest;
    unsigned long long whole;
    const char *end;
    char *whole_end;
    unsigned shift;
    double number;
    size_t factor;

    if (is_infinity(text)) {
        *value_p = UCS_MEMUNITS_INF;
        return UCS_OK;
    } else if (!strcasecmp(text, "auto")) {
        *value_p = UCS_MEMUNITS_AUTO;
        return UCS_OK;
    }

    if ((*text < '0') || (*text > '9') ||
        ((end = config_parse_double(text, &number)) == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    errno  = 0;
    whole  = strtoull(text, &whole_end, 10);
    shift  = unit_shift(*end);
    factor = (size_t)1 << shift;
    if (strcasecmp(end + (shift != 0), "b") && (end[shift != 0] != '\0')) {
        return UCS_ERR_INVALID_PARAM;
    }

    if ((whole_end == end) && (errno == 0)) {
        if (ucs_check_mul((size_t)whole, factor, value_p)) {
            return UCS_ERR_OUT_OF_RANGE;
        }
    } else {
        number *= (double)factor;
        if (number >= 1.8e19) {
            return UCS_ERR_OUT_OF_RANGE;
        }
        *value_p = (size_t)number;
    }

    /* the two largest values mean inf and auto */
    return (*value_p >= UCS_MEMUNITS_AUTO) ? UCS_ERR_OUT_OF_RANGE : UCS_OK;
}

char *ucs_memunits_to_str(size_t value, char *buf, size_t max)
{
    unsigned unit = 0;

    if (value == UCS_MEMUNITS_INF) {
        snprintf(buf, max, UCS_NUMERIC_INF_STR);
        return buf;
    } else if (value == UCS_MEMUNITS_AUTO) {
        snprintf(buf, max, UCS_VALUE_AUTO_STR);
        return buf;
    }

    while ((value != 0) && (value % 1024 == 0) &&
           (unit < sizeof(unit_letters) - 1)) {
        value /= 1024;
        ++unit;
    }

    if (unit == 0) {
        snprintf(buf, max, "%zu", value);
    } else {
        snprintf(buf, max, "%zu%c", value, unit_letters[unit - 1]);
    }
    return buf;
}

const char *ucs_memunits_range_str(size_t range_start, size_t range_end,
                                   char *buf, size_t max)
{
    char first[32], last[32];

    snprintf(buf, max, "%s..%s",
             ucs_memunits_to_str(range_start, first, sizeof(first)),
             ucs_memunits_to_str(range_end, last, sizeof(last)));
    return buf;
}

static ucs_status_t memunits_parse(const char *text, void *dest,
                                   const void *arg, char *why)
{
    size_t *value = dest;
    ucs_status_t status;

    status = ucs_str_to_memunits(text, value);
    if (status == UCS_ERR_OUT_OF_RANGE) {
        snprintf(why, UCS_CONFIG_WHY_MAX, "it is too large");
    }

    if (status != UCS_OK) {
        return UCS_ERR_INVALID_PARAM;
    }

    return (*value >= UCS_MEMUNITS_AUTO) ?
               UCS_OK :
               config_check_range(arg, (double)*value, why);
}

static void memunits_print(char *buf, size_t max, const void *src,
                           const void *arg)
{
    (void)arg;
    ucs_memunits_to_str(*(const size_t *)src, buf, max);
}

static void memunits_describe(char *buf, size_t max, const void *arg)
{
    const ucs_config_range_t *range = arg;
    char least[32], most[32];

    if (range == NULL) {
        snprintf(buf, max,
                 "a size such as 4096, 4k, 1m or 2g, \"inf\" or \"auto\"");
        return;
    }

    ucs_memunits_to_str((size_t)range->min, least, sizeof(least));
    ucs_memunits_to_str((size_t)range->max, most, sizeof(most));
    snprintf(buf, max, "a size from %s to %s, \"inf\" or \"auto\"", least,
             most);
}

/* ---- times ---- */

static const struct {
    const char *name;
    double seconds;
} time_units[] = {
    {"", 1},      {"s", 1},  {"ms", 1e-3}, {"us", 1e-6},
    {"ns", 1e-9}, {"m", 60}, {"h", 3600},
};

/* Parses a time to seconds. *value_p is INFINITY for "inf", and
 * UCS_CONFIG_DBL_AUTO, a negative number, for "auto". */
static ucs_status_t parse_seconds(const char *text, double *value_p)
{
    const char *end;
    size_t i;

    if (is_infinity(text)) {
        *value_p = INFINITY;
        return UCS_OK;
    } else if (!strcasecmp(text, "auto")) {
        *value_p = UCS_CONFIG_DBL_AUTO;
        return UCS_OK;
    }

    end = config_parse_double(text, value_p);
    if ((end == NULL) || (*value_p < 0)) {
        return UCS_ERR_INVALID_PARAM;
    }

    for (i = 0; i < ucs_static_array_size(time_units); ++i) {
        if (!strcasecmp(end, time_units[i].name)) {
            *value_p *= time_units[i].seconds;
            return UCS_OK;
        }
    }

    return UCS_ERR_INVALID_PARAM;
}

static void print_seconds(char *buf, size_t max, double value)
{
    const char *unit = "s";
    size_t length;

    if (value < 0) {
        snprintf(buf, max, "auto");
        return;
    } else if (isinf(value)) {
        snprintf(buf, max, "inf");
        return;
    }

    if ((value > 0) && (value < 1e-6)) {
        value *= 1e9;
        unit = "ns";
    } else if ((value > 0) && (value < 1e-3)) {
        value *= 1e6;
        unit = "us";
    } else if ((value > 0) && (value < 1)) {
        value *= 1e3;
        unit = "ms";
    }

    config_print_double(buf, max, value);
    length = strlen(buf);
    snprintf(buf + length, max - length, "%s", unit);
}

static ucs_status_t time_parse(const char *text, void *dest, const void *arg,
                               char *why)
{
    ucs_status_t status = parse_seconds(text, dest);

    if ((status != UCS_OK) || isinf(*(double *)dest) || (*(double *)dest < 0)) {
        return status;
    }

    return config_check_range(arg, *(double *)dest, why);
}

static void time_print(char *buf, size_t max, const void *src, const void *arg)
{
    (void)arg;
    print_seconds(buf, max, *(const double *)src);
}

static void time_describe(char *buf, size_t max, const void *arg)
{
    char range[64];

    config_describe_range(range, sizeof(range), arg);
    snprintf(buf, max,
             "a time such as 10us, 5ms, 1.5s or 1m%s%s, \"inf\" or \"auto\"",
             (range[0] != '\0') ? " in seconds" : "", range);
}

static ucs_status_t time_units_parse(const char *text, void *dest,
                                     const void *arg, char *why)
{
    ucs_status_t status;
    double seconds;

    status = time_parse(text, &seconds, arg, why);
    if (status != UCS_OK) {
        return status;
    }

    *(ucs_time_t *)dest = (seconds < 0) ? UCS_TIME_AUTO :
                                          ucs_time_from_sec(seconds);
    return UCS_OK;
}

static void time_units_print(char *buf, size_t max, const void *src,
                             const void *arg)
{
    ucs_time_t value = *(const ucs_time_t *)src;

    (void)arg;
    print_seconds(buf, max,
                  (value == UCS_TIME_INFINITY) ? INFINITY :
                  (value == UCS_TIME_AUTO)     ? UCS_CONFIG_DBL_AUTO :
                                                 ucs_time_to_sec(value));
}

/* ---- bandwidths ---- */

/* Parses a bandwidth such as "10GBs", "100Gbps" or "1.5MB/s" to bytes per
 * second. "B" stands for bytes, "b" for bits. */
static ucs_status_t bw_parse(const char *text, void *dest, const void *arg,
                             char *why)
{
    double *value = dest;
    const char *end;
    unsigned shift;

    if (!strcasecmp(text, "auto")) {
        *value = UCS_CONFIG_DBL_AUTO;
        return UCS_OK;
    } else if (is_infinity(text)) {
        *value = INFINITY;
        return UCS_OK;
    }

    end = config_parse_double(text, value);
    if ((end == NULL) || (*value < 0)) {
        return UCS_ERR_INVALID_PARAM;
    }

    shift = unit_shift(*end);
    end += (shift != 0);
    *value *= (double)(1ull << shift);
    if (*end == 'b') {
        *value /= 8;
    } else if (*end != 'B') {
        return UCS_ERR_INVALID_PARAM;
    }

    ++end;
    if (strcmp(end, "s") && strcmp(end, "ps") && strcmp(end, "/s") &&
        strcmp(end, "")) {
        return UCS_ERR_INVALID_PARAM;
    }

    return config_check_range(arg, *value, why);
}

static void bw_print(char *buf, size_t max, const void *src, const void *arg)
{
    double value   = *(const double *)src;
    unsigned unit  = 0;
    char letter[2] = "";
    size_t length;

    (void)arg;
    if (value < 0) {
        snprintf(buf, max, "auto");
        return;
    } else if (isinf(value)) {
        snprintf(buf, max, "inf");
        return;
    }

    while ((value >= 1024) && (unit < sizeof(unit_letters) - 1)) {
        value /= 1024;
        letter[0] = unit_letters[unit++];
    }

    config_print_double(buf, max, value);
    length = strlen(buf);
    snprintf(buf + length, max - length, "%sBs", letter);
}

static void bw_describe(char *buf, size_t max, const void *arg)
{
    (void)arg;
    snprintf(buf, max,
             "a bandwidth such as 10GBs or 100Gbps (B: bytes, b: bits; K is "
             "1024), \"inf\" or \"auto\"");
}

const ucs_config_type_t ucs_config_type_memunits = {
    sizeof(size_t),    memunits_parse, memunits_print,
    memunits_describe, NULL,           NULL,
};
const ucs_config_type_t ucs_config_type_time = {
    sizeof(double), time_parse, time_print, time_describe, NULL, NULL,
};
const ucs_config_type_t ucs_config_type_time_units = {
    sizeof(ucs_time_t),
    time_units_parse,
    time_units_print,
    time_describe,
    NULL,
    NULL,
};
const ucs_config_type_t ucs_config_type_bw = {
    sizeof(double), bw_parse, bw_print, bw_describe, NULL, NULL,
};
