/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the implementation files of <ucs/config/parser.h>. */
#ifndef UCS_CONFIG_PARSER_INTERNAL_H
#define UCS_CONFIG_PARSER_INTERNAL_H

/* The text of a variable, from the environment or ucx.conf; NULL: not set. */
const char *config_parser_text(const char *full_name);

#endif
