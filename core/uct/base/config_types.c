/* SPDX-License-Identifier: BSD-3-Clause */
/* Types of plugins' variables whose values have another C type or other special
 * values than in ucs/config, or a range (config_types.h): each calls the type
 * of ucs/config, then converts the value or checks its range. */
#include "uct/base/config_types.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static ucs_status_t uct_range_check(double value,
                                    const ucs_config_range_t *range, char *why)
{
    if ((range == NULL) || ((value >= range->min) && (value <= range->max))) {
        return UCS_OK;
    }

    snprintf(why, UCS_CONFIG_WHY_MAX, "it is too %s",
             (value < range->min) ? "small" : "large");
    return UCS_ERR_INVALID_PARAM;
}

/* Writes the description of the type `base` of ucs/config, followed by the
 * range if there is one. */
static void uct_range_describe(const ucs_config_type_t *base, const char *unit,
                               char *buf, size_t max,
                               const ucs_config_range_t *range)
{
    size_t length;

    base->describe(buf, max, NULL);
    length = strlen(buf);
    if ((range != NULL) && (length < max)) {
        snprintf(buf + length, max - length, ", from %g to %g%s", range->min,
                 range->max, unit);
    }
}

/* --- bitmap ---------------------------------------------------------- */

static ucs_status_t uct_bitmap_parse(const char *text, void *dest,
                                     const void *arg, char *why)
{
    uint64_t bits = 0;
    ucs_status_t status;

    status = ucs_config_type_bitmap.parse(text, &bits, arg, why);
    if (status == UCS_OK) {
        *(unsigned *)dest = (unsigned)bits;
    }
    return status;
}

static void uct_bitmap_print(char *buf, size_t max, const void *src,
                             const void *arg)
{
    uint64_t bits = *(const unsigned *)src;

    ucs_config_type_bitmap.print(buf, max, &bits, arg);
}

static void uct_bitmap_describe(char *buf, size_t max, const void *arg)
{
    ucs_config_type_bitmap.describe(buf, max, arg);
}

const ucs_config_type_t uct_config_type_bitmap = {
    .size     = sizeof(unsigned),
    .parse    = uct_bitmap_parse,
    .print    = uct_bitmap_print,
    .describe = uct_bitmap_describe,
};

/* --- time ------------------------------------------------------------ */

static ucs_status_t uct_time_parse(const char *text, void *dest,
                                   const void *arg, char *why)
{
    double value = 0;
    ucs_status_t status;

    status = ucs_config_type_time.parse(text, &value, NULL, why);
    if (status == UCS_OK) {
        status = uct_range_check(value, arg, why);
    }
    if (status == UCS_OK) {
        *(double *)dest = value;
    }
    return status;
}

static void uct_time_print(char *buf, size_t max, const void *src,
                           const void *arg)
{
    ucs_config_type_time.print(buf, max, src, NULL);
}

static void uct_time_describe(char *buf, size_t max, const void *arg)
{
    uct_range_describe(&ucs_config_type_time, " seconds", buf, max, arg);
}

const ucs_config_type_t uct_config_type_time = {
    .size     = sizeof(double),
    .parse    = uct_time_parse,
    .print    = uct_time_print,
    .describe = uct_time_describe,
};

/* --- bandwidth -------------------------------------------------------- */

static ucs_status_t uct_bandwidth_parse(const char *text, void *dest,
                                        const void *arg, char *why)
{
    double value = 0;
    ucs_status_t status;

    status = ucs_config_type_bw.parse(text, &value, NULL, why);
    if (status != UCS_OK) {
        return status;
    }

    if (UCS_CONFIG_DBL_IS_AUTO(value)) {
        value = 0;
    } else {
        status = uct_range_check(value, arg, why);
    }
    if (status == UCS_OK) {
        *(double *)dest = value;
    }
    return status;
}

static void uct_bandwidth_print(char *buf, size_t max, const void *src,
                                const void *arg)
{
    double value = *(const double *)src;

    if (value == 0) {
        value = UCS_CONFIG_DBL_AUTO;
    }
    ucs_config_type_bw.print(buf, max, &value, NULL);
}

static void uct_bandwidth_describe(char *buf, size_t max, const void *arg)
{
    uct_range_describe(&ucs_config_type_bw, " bytes a second", buf, max, arg);
}

const ucs_config_type_t uct_config_type_bandwidth = {
    .size     = sizeof(double),
    .parse    = uct_bandwidth_parse,
    .print    = uct_bandwidth_print,
    .describe = uct_bandwidth_describe,
};

/* --- unsigned with "inf" ----------------------------------------------- */

static ucs_status_t uct_uint_parse(const char *text, void *dest,
                                   const void *arg, char *why)
{
    if (strcasecmp(text, "inf") == 0) {
        *(unsigned *)dest = UINT_MAX;
        return uct_range_check(UINT_MAX, arg, why);
    }

    return ucs_config_type_uint.parse(text, dest, arg, why);
}

static void uct_uint_print(char *buf, size_t max, const void *src,
                           const void *arg)
{
    if (*(const unsigned *)src == UINT_MAX) {
        snprintf(buf, max, "inf");
    } else {
        ucs_config_type_uint.print(buf, max, src, arg);
    }
}

static void uct_uint_describe(char *buf, size_t max, const void *arg)
{
    const ucs_config_range_t *range = arg;
    size_t length;

    ucs_config_type_uint.describe(buf, max, arg);
    length = strlen(buf);
    if ((length < max) && ((range == NULL) || (range->max >= UINT_MAX))) {
        snprintf(buf + length, max - length, ", or \"inf\"");
    }
}

const ucs_config_type_t uct_config_type_uint = {
    .size     = sizeof(unsigned),
    .parse    = uct_uint_parse,
    .print    = uct_uint_print,
    .describe = uct_uint_describe,
};
