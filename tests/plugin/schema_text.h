/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses JSON schemas from text, for the tests of the schema interpreter. */
#ifndef TESTS_PLUGIN_SCHEMA_TEXT_H
#define TESTS_PLUGIN_SCHEMA_TEXT_H

#include "uct/plugin/schema.h"

/* Converts a JSON text, which must be well-formed, to a schema. Free the result
 * with schema_text_free(). */
const uct_schema_t *schema_text_read(const char *source);
void schema_text_free(const uct_schema_t *schema);

#endif
