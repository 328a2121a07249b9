/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucp/dt/bypass.h"

#include "ucs/sys/compiler_def.h"

#include <unistd.h>

/* Part of the last-level cache from which data bypasses it: source, destination
 * and the data between them need space. Less is often sent on, and then read
 * from the cache. LEAST: lower limit in bytes, also if the cache is unknown.
 * MOST: upper limit, because other cores, and other virtual machines, use a
 * larger cache, too. */
enum { PARTS = 4, LEAST = 8 << 20, MOST = 48 << 20 };

size_t ucp_dt_bypass_min = LEAST;

static void UCS_F_CTOR bypass_at_load(void)
{
#ifdef _SC_LEVEL3_CACHE_SIZE
    long part = sysconf(_SC_LEVEL3_CACHE_SIZE) / PARTS;

    if (part > LEAST) {
        ucp_dt_bypass_min = (part < MOST) ? (size_t)part : MOST;
    }
#endif
}
