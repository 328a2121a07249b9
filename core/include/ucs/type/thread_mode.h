/* SPDX-License-Identifier: BSD-3-Clause */
/* Modes of access to an object by several threads. */
#ifndef UCS_TYPE_THREAD_MODE_H
#define UCS_TYPE_THREAD_MODE_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** @addtogroup UCS_TYPE
 *  @{ */

/** Thread sharing mode of an object. */
typedef enum {
    UCS_THREAD_MODE_SINGLE,     /**< Only the thread that created the object may
                                 *   use it */
    UCS_THREAD_MODE_SERIALIZED, /**< Several threads may use it, one at a time:
                                 *   the caller serializes access */
    UCS_THREAD_MODE_MULTI,      /**< Several threads may use it at the same
                                 *   time */
    UCS_THREAD_MODE_LAST,
} ucs_thread_mode_t;

/** Names of the modes, indexed by mode, terminated by NULL. */
extern const char *ucs_thread_mode_names[];

/** @} */

END_C_DECLS

#endif
