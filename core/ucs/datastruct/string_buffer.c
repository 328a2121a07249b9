/* SPDX-License-Identifier: BSD-3-Clause */
/* Growing text: allocation and formatting. */
#include "ucs/datastruct/string_buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ucs_string_buffer_init(ucs_string_buffer_t *strb)
{
    memset(strb, 0, sizeof(*strb));
}

void ucs_string_buffer_init_fixed(ucs_string_buffer_t *strb, char *buf,
                                  size_t capacity)
{
    strb->buf      = buf;
    strb->length   = 0;
    strb->capacity = capacity;
    strb->fixed    = 1;
    buf[0]         = '\0';
}

void ucs_string_buffer_cleanup(ucs_string_buffer_t *strb)
{
    if (!strb->fixed) {
        free(strb->buf);
    }

    ucs_string_buffer_init(strb);
}

void ucs_string_buffer_reset(ucs_string_buffer_t *strb)
{
    strb->length = 0;
    if (strb->buf != NULL) {
        strb->buf[0] = '\0';
    }
}

/* Grows the buffer, if possible, to append `more` characters and a terminating
 * zero. Returns how many of the characters fit. */
static size_t string_buffer_room(ucs_string_buffer_t *strb, size_t more)
{
    size_t needed   = strb->length + more + 1;
    size_t capacity = strb->capacity * 2;
    char *larger;

    if ((needed > strb->capacity) && !strb->fixed) {
        capacity = (capacity < needed) ? needed + 64 : capacity;
        larger   = realloc(strb->buf, capacity);
        if (larger != NULL) {
            strb->buf      = larger;
            strb->capacity = capacity;
        }
    }

    if (strb->capacity == 0) {
        return 0;
    }

    return (needed <= strb->capacity) ? more :
                                        strb->capacity - strb->length - 1;
}

void ucs_string_buffer_vappendf(ucs_string_buffer_t *strb, const char *format,
                                va_list ap)
{
    size_t room;
    va_list copy;
    int length;

    va_copy(copy, ap);
    length = vsnprintf(NULL, 0, format, copy);
    va_end(copy);
    if (length <= 0) {
        return;
    }

    room = string_buffer_room(strb, (size_t)length);
    if (strb->buf == NULL) {
        return;
    }

    vsnprintf(strb->buf + strb->length, room + 1, format, ap);
    strb->length += room;
}

void ucs_string_buffer_appendf(ucs_string_buffer_t *strb, const char *format,
                               ...)
{
    va_list ap;

    va_start(ap, format);
    ucs_string_buffer_vappendf(strb, format, ap);
    va_end(ap);
}

const char *ucs_string_buffer_cstr(const ucs_string_buffer_t *strb)
{
    return (strb->buf == NULL) ? "" : strb->buf;
}

char *ucs_string_buffer_extract(ucs_string_buffer_t *strb)
{
    char *text;

    if (strb->fixed || (strb->buf == NULL)) {
        text = strdup(ucs_string_buffer_cstr(strb));
        ucs_string_buffer_reset(strb);
        return text;
    }

    text = strb->buf;
    ucs_string_buffer_init(strb);
    return text;
}
