/* SPDX-License-Identifier: BSD-3-Clause */
/* Types of progress callbacks. */
#ifndef UCS_CALLBACKQ_COMPAT_H
#define UCS_CALLBACKQ_COMPAT_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** How to register a progress callback. */
enum ucs_callbackq_flags {
    UCS_CALLBACKQ_FLAG_FAST    = UCS_BIT(0), /**< Call it before the other
                                              *   callbacks, if a fast entry is
                                              *   free */
    UCS_CALLBACKQ_FLAG_ONESHOT = UCS_BIT(1), /**< Remove it after one call; not
                                              * together with FAST */
};

/** Maximum number of callbacks with UCS_CALLBACKQ_FLAG_FAST. */
#define UCS_CALLBACKQ_FAST_COUNT 7

/** The value of an id if there is no callback. */
#define UCS_CALLBACKQ_ID_NULL (-1)

/**
 * Progress callback.
 *
 * @return Number of events that it processed; zero if there was nothing to do.
 */
typedef unsigned (*ucs_callback_t)(void *arg);

END_C_DECLS

#endif
