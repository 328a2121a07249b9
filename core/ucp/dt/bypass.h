/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which received data bypasses the caches.
 */
#ifndef UCP_DT_BYPASS_H
#define UCP_DT_BYPASS_H

#include <stddef.h>

/** Contiguous data of at least this many bytes is unpacked by stores that
 *  bypass the caches. Set when the library is loaded. */
extern size_t ucp_dt_bypass_min;

#endif
