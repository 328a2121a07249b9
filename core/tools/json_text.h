/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tools have in common about JSON. */
#ifndef TOOLS_JSON_TEXT_H
#define TOOLS_JSON_TEXT_H

#include <jansson.h>

/** A string; what is no UTF-8 of it is shown as far as it is ASCII. NULL: out of
 *  memory. */
json_t *json_text(const char *text);

#endif
