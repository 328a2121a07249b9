/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates JSON strings; see json_text.h. */
#include "json_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

json_t *json_text(const char *text)
{
    json_t *result = json_string(text);
    char *copy, *p;

    if (result != NULL) {
        return result;
    }

    copy = strdup(text);
    for (p = copy; (p != NULL) && (*p != '\0'); ++p) {
        if ((uint8_t)*p >= 0x80) {
            *p = '?';
        }
    }
    result = (copy == NULL) ? NULL : json_string(copy);
    free(copy);
    return result;
}
