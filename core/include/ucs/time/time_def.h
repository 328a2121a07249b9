/* SPDX-License-Identifier: BSD-3-Clause */
/* Times, in units that are private to the library. */
#ifndef UCS_TIME_DEF_H
#define UCS_TIME_DEF_H

#include <ucs/sys/compiler_def.h>
#include <limits.h>

BEGIN_C_DECLS

/** @addtogroup UCS_SYS
 *  @{ */

/**
 * A time in units of the library; the API does not define the unit. This
 * library counts nanoseconds. Values that are truncated to fewer bits wrap
 * around: compare such values by UCS_SHORT_TIME_CMP only.
 */
typedef unsigned long ucs_time_t;

/** A ucs_time_t without its upper bits. */
typedef uint32_t ucs_short_time_t;

/** Special times: infinite, and a value with which the library selects the
 *  time. */
#define UCS_TIME_INFINITY ULONG_MAX
#define UCS_TIME_AUTO     (ULONG_MAX - 1)

/* Compares two times by the sign of their difference: "t1 OP t2". The result is
 * correct also if the time has wrapped around, but only if the times differ by
 * less than 2^31 units. */
#define UCS_SHORT_TIME_CMP(_t1, _op, _t2) ((int32_t)((_t1) - (_t2)) _op 0)

/** @} */

END_C_DECLS

#endif
