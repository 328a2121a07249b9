/* SPDX-License-Identifier: BSD-3-Clause */
/* The unit-less clock value used by timers. */
#ifndef UCS_TIME_DEF_H
#define UCS_TIME_DEF_H

#include <ucs/sys/compiler_def.h>
#include <limits.h>

BEGIN_C_DECLS

/** @addtogroup UCS_SYS
 *  @{ */

/**
 * A time in the library's own ticks, which need not be any metric unit by the
 * specification. This library counts nanoseconds.
 * Values cut down to fewer bits wrap around: compare those by
 * UCS_SHORT_TIME_CMP only.
 */
typedef unsigned long ucs_time_t;

/** A ucs_time_t without its upper bits. */
typedef uint32_t ucs_short_time_t;

/** Times with a special meaning: never, and to be decided by the library. */
#define UCS_TIME_INFINITY ULONG_MAX
#define UCS_TIME_AUTO     (ULONG_MAX - 1)

/* Compares by the sign of the difference: "t1 OP t2", safe across a wrap. */
#define UCS_SHORT_TIME_CMP(_t1, _op, _t2) ((int32_t)((_t1) - (_t2)) _op 0)

/** @} */

END_C_DECLS

#endif
