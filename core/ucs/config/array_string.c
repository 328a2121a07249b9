/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of arrays of strings. Programs may hold a copy, so libucs has one of
 * its own (see core/compat). */
#include <ucs/config/parser.h>

#include "ucs/type/public_table.h"

ucs_config_array_t ucs_config_array_string = {sizeof(char *),
                                              UCS_CONFIG_TYPE_STRING};
UCS_PUBLIC_TABLE(ucs_config_array_string);
