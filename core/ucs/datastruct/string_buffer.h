/* SPDX-License-Identifier: BSD-3-Clause */
/* A growing string. If memory is exhausted, the text is truncated and the
 * string stays valid. */
#ifndef UCS_STRING_BUFFER_H
#define UCS_STRING_BUFFER_H

#include <stdarg.h>
#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

typedef struct ucs_string_buffer {
    char *buf;       /* zero-terminated; NULL: nothing was allocated yet */
    size_t length;   /* characters, without the terminating zero */
    size_t capacity; /* bytes at `buf` */
    int fixed;       /* `buf` belongs to the caller and does not grow */
} ucs_string_buffer_t;

#define UCS_STRING_BUFFER_INITIALIZER \
    { \
        NULL, 0, 0, 0 \
    }

void ucs_string_buffer_init(ucs_string_buffer_t *strb);

/** Initializes a string in the caller's memory of @a capacity > 0 bytes. A text
 *  that does not fit is truncated. */
void ucs_string_buffer_init_fixed(ucs_string_buffer_t *strb, char *buf,
                                  size_t capacity);
void ucs_string_buffer_cleanup(ucs_string_buffer_t *strb);
void ucs_string_buffer_reset(ucs_string_buffer_t *strb);

void ucs_string_buffer_appendf(ucs_string_buffer_t *strb, const char *format,
                               ...) UCS_F_PRINTF(2, 3);
void ucs_string_buffer_vappendf(ucs_string_buffer_t *strb, const char *format,
                                va_list ap) UCS_F_PRINTF(2, 0);

/** Returns the text, "" if it is empty. Valid until the next change. */
const char *ucs_string_buffer_cstr(const ucs_string_buffer_t *strb);

/** Empties the string and returns its text, which the caller must free. Returns
 *  NULL if memory is exhausted. */
char *ucs_string_buffer_extract(ucs_string_buffer_t *strb);

static inline size_t ucs_string_buffer_length(const ucs_string_buffer_t *strb)
{
    return strb->length;
}

END_C_DECLS

#endif
