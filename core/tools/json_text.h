/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts text to JSON strings; shared by the tools. */
#ifndef TOOLS_JSON_TEXT_H
#define TOOLS_JSON_TEXT_H

#include <jansson.h>

/** Converts text to a JSON string. If the text is not valid UTF-8, each byte
 *  above 0x7f is replaced by '?'. Returns NULL if memory is exhausted. */
json_t *json_text(const char *text);

#endif
