/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON helpers: create numbers (null for "unlimited"), and read members for
 * printing.
 */
#include "info.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_int_t info_int(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

double info_real(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

const char *info_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return (text == NULL) ? "" : text;
}

json_t *info_json_size(size_t size)
{
    /* Larger than any address space. It is lower than SIZE_MAX, because some
     * transports return a fraction of SIZE_MAX for "no limit". */
    const size_t no_limit = (size_t)1 << 57;

    return (size >= no_limit) ? json_null() : json_integer((json_int_t)size);
}

json_t *info_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}
