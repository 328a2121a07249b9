/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uct_text_clean(): replaces control characters and malformed UTF-8 in text
 * that does not come from the core, such as file names and texts of plugins.
 */
#include "uct/plugin/text.h"

#include <stddef.h>
#include <stdint.h>

/* Returns the number of bytes of the UTF-8 sequence at `s`; 0 if it is
 * malformed or a control character. */
static size_t sequence_length(const unsigned char *s)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t point;
    size_t length, i;

    if (s[0] < 0x80) {
        return (s[0] >= 0x20) && (s[0] != 0x7f);
    } else if ((s[0] & 0xe0) == 0xc0) {
        length = 2;
    } else if ((s[0] & 0xf0) == 0xe0) {
        length = 3;
    } else if ((s[0] & 0xf8) == 0xf0) {
        length = 4;
    } else {
        return 0;
    }

    point = s[0] & (0x7f >> length);
    for (i = 1; i < length; ++i) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
        point = (point << 6) | (s[i] & 0x3f);
    }
    if ((point < least[length]) || (point < 0xa0) || (point > 0x10ffff) ||
        ((point >= 0xd800) && (point <= 0xdfff))) {
        return 0;
    }
    return length;
}

void uct_text_clean(char *text)
{
    unsigned char *p = (unsigned char *)text;
    size_t length;

    while (*p != '\0') {
        length = sequence_length(p);
        if (length == 0) {
            *p++ = '?';
        } else {
            p += length;
        }
    }
}
