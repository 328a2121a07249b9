/* SPDX-License-Identifier: BSD-3-Clause */
/* Element functions of arrays of strings. Programs may contain a copy of these
 * symbols, so libucs has its own (see core/compat). */
#include <ucs/config/parser.h>

#include "ucs/type/public_table.h"

ucs_config_array_t ucs_config_array_string = {sizeof(char *),
                                              UCS_CONFIG_TYPE_STRING};
UCS_PUBLIC_TABLE(ucs_config_array_string);
