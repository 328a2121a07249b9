/* SPDX-License-Identifier: BSD-3-Clause */
/* What users of a worker need to know of progress callbacks. */
#ifndef UCS_CALLBACKQ_COMPAT_H
#define UCS_CALLBACKQ_COMPAT_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** How to register a progress callback. */
enum ucs_callbackq_flags {
    UCS_CALLBACKQ_FLAG_FAST = UCS_BIT(0),   /**< Dispatch it first, if room
                                                 allows */
    UCS_CALLBACKQ_FLAG_ONESHOT = UCS_BIT(1) /**< Drop it after one call; not
                                                 together with FAST */
};

/** So many callbacks at most are dispatched first. */
#define UCS_CALLBACKQ_FAST_COUNT 7

/** The id of no callback. */
#define UCS_CALLBACKQ_ID_NULL (-1)

/**
 * Progress callback.
 *
 * @return How many events it moved on; zero if there was nothing to do.
 */
typedef unsigned (*ucs_callback_t)(void *arg);

END_C_DECLS

#endif
