/* SPDX-License-Identifier: BSD-3-Clause */
/* Use of an object by threads. */
#ifndef UCS_TYPE_THREAD_MODE_H
#define UCS_TYPE_THREAD_MODE_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** @addtogroup UCS_TYPE
 *  @{ */

/** Thread sharing mode of an object. */
typedef enum {
    UCS_THREAD_MODE_SINGLE,     /**< Only the thread that created it; others
                                 * must not use it */
    UCS_THREAD_MODE_SERIALIZED, /**< Any thread, one at a time: the caller
                                 * provides the locking */
    UCS_THREAD_MODE_MULTI,      /**< Any threads at once */
    UCS_THREAD_MODE_LAST,
} ucs_thread_mode_t;

/** Names of the modes, by number, terminated by NULL. */
extern const char *ucs_thread_mode_names[];

/** @} */

END_C_DECLS

#endif
