/* SPDX-License-Identifier: BSD-3-Clause */
/* The size and the functions of an element of an array of strings. A program
 * may contain a copy of this variable (copy relocation), so the drop-in library
 * libucs.so.0 is built with this file too (core/compat/README.md). */
#include <ucs/config/parser.h>

#include "ucs/type/public_table.h"

ucs_config_array_t ucs_config_array_string = {sizeof(char *),
                                              UCS_CONFIG_TYPE_STRING};
UCS_PUBLIC_TABLE(ucs_config_array_string);
