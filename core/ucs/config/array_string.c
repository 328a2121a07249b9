/* SPDX-License-Identifier: BSD-3-Clause */
/* Element functions of arrays of strings. Programs may hold a copy of this
 * variable, so the drop-in library libucs.so.0 is built with this file too
 * (core/compat/README.md). */
#include <ucs/config/parser.h>

#include "ucs/type/public_table.h"

ucs_config_array_t ucs_config_array_string = {sizeof(char *),
                                              UCS_CONFIG_TYPE_STRING};
UCS_PUBLIC_TABLE(ucs_config_array_string);
