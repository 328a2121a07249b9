/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the implementation files of <ucs/config/parser.h>. */
#ifndef UCS_CONFIG_PARSER_INTERNAL_H
#define UCS_CONFIG_PARSER_INTERNAL_H

/* Returns the text of a variable from the environment or ucx.conf, or NULL if
 * it is not set. */
const char *config_parser_text(const char *full_name);

#endif
