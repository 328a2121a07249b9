/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Public tables of names. This file contains constants only, because it is also
 * part of the drop-in library libuct (core/compat/README.md).
 */
#include <uct/api/uct_def.h>

#include "ucs/type/public_table.h"

const char *uct_device_type_names[] = {"network", "intra-node", "accelerator",
                                       "loopback", NULL};
UCS_PUBLIC_TABLE(uct_device_type_names);

const char *uct_alloc_method_names[] = {"thp",  "md",   "heap",
                                        "mmap", "huge", NULL};
UCS_PUBLIC_TABLE(uct_alloc_method_names);

UCS_STATIC_ASSERT(ucs_static_array_size(uct_device_type_names) ==
                  UCT_DEVICE_TYPE_LAST + 1);
UCS_STATIC_ASSERT(ucs_static_array_size(uct_alloc_method_names) ==
                  UCT_ALLOC_METHOD_LAST + 1);
