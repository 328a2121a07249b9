/* SPDX-License-Identifier: BSD-3-Clause */
/* Unpacked keys of remote memory. */
#ifndef UGNI_MEM_H
#define UGNI_MEM_H

#include "plugin.h"

typedef struct ugni_rkey {
    uint64_t base;              /* Subtracted from remote addresses */
    unsigned num_keys;
    uint64_t keys[];            /* One for each device of the owner */
} ugni_rkey_t;

#endif
