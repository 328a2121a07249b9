/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A set of file descriptors to wait on together. One thread may wait while
 * other threads add, modify or remove descriptors.
 */
#ifndef UCS_EVENT_SET_H
#define UCS_EVENT_SET_H

#include <ucs/type/status.h>

BEGIN_C_DECLS

/** @addtogroup UCS_ASYNC
 *  @{ */

/** Event set; opaque. */
typedef struct ucs_sys_event_set ucs_sys_event_set_t;

/** A mask of @ref ucs_event_set_type_t bits. */
typedef uint8_t ucs_event_set_types_t;

/** Events of a descriptor. */
typedef enum {
    UCS_EVENT_SET_EVREAD         = UCS_BIT(0), /**< Readable */
    UCS_EVENT_SET_EVWRITE        = UCS_BIT(1), /**< Writable */
    UCS_EVENT_SET_EVERR          = UCS_BIT(2), /**< Error or hang-up */
    UCS_EVENT_SET_EDGE_TRIGGERED = UCS_BIT(3), /**< Report each change once, not
                                                *   a state as long as it
                                                *   lasts */
} ucs_event_set_type_t;

/**
 * Called by @ref ucs_event_set_wait for each descriptor with events.
 *
 * @param [in] callback_data  Value that was passed to @ref ucs_event_set_add.
 * @param [in] events         Events of the descriptor.
 * @param [in] arg            Value that was passed to @ref ucs_event_set_wait.
 */
typedef void (*ucs_event_set_handler_t)(void *callback_data,
                                        ucs_event_set_types_t events,
                                        void *arg);

/** Maximum number of events that one wait can report. */
extern const unsigned ucs_sys_event_set_max_wait_events;

/**
 * Creates a set with a new epoll descriptor.
 *
 * @return UCS_OK; UCS_ERR_NO_MEMORY; or the error of the kernel
 */
ucs_status_t ucs_event_set_create(ucs_sys_event_set_t **event_set_p);

/**
 * Creates a set that uses an epoll descriptor of the caller. The caller closes
 * the epoll descriptor after ucs_event_set_cleanup().
 *
 * @return UCS_OK; UCS_ERR_NO_MEMORY
 */
ucs_status_t ucs_event_set_create_from_fd(ucs_sys_event_set_t **event_set_p,
                                          int event_fd);

/**
 * Adds a descriptor.
 *
 * @return UCS_OK; UCS_ERR_ALREADY_EXISTS if it is in the set; or the error of
 *         the kernel
 */
ucs_status_t ucs_event_set_add(ucs_sys_event_set_t *event_set, int fd,
                               ucs_event_set_types_t events,
                               void *callback_data);

/**
 * Changes the events or the data of a descriptor in the set.
 *
 * @return UCS_OK; UCS_ERR_NO_ELEM if it is not in the set; or the error of the
 *         kernel
 */
ucs_status_t ucs_event_set_mod(ucs_sys_event_set_t *event_set, int fd,
                               ucs_event_set_types_t events,
                               void *callback_data);

/**
 * Removes a descriptor.
 *
 * @return UCS_OK; UCS_ERR_NO_ELEM if it is not in the set; or the error of the
 *         kernel
 */
ucs_status_t ucs_event_set_del(ucs_sys_event_set_t *event_set, int fd);

/**
 * Waits and calls the handler for each descriptor with events.
 *
 * @param [in]    event_set   Set to wait on.
 * @param [in,out] num_events  In: maximum number of events to report (at most
 *                            @ref ucs_sys_event_set_max_wait_events). Out:
 *                            number of reported events.
 * @param [in]    timeout_ms  Maximum time in milliseconds; 0: poll without
 *                            waiting, -1: no limit.
 * @param [in]    handler     Called for each descriptor.
 * @param [in]    arg         Passed to the handler.
 *
 * @return UCS_OK also after the timeout (with no events then), UCS_INPROGRESS
 *         if a signal interrupted the wait, or an error.
 */
ucs_status_t ucs_event_set_wait(ucs_sys_event_set_t *event_set,
                                unsigned *num_events, int timeout_ms,
                                ucs_event_set_handler_t handler, void *arg);

/** Releases the set; the descriptors in it stay open. */
void ucs_event_set_cleanup(ucs_sys_event_set_t *event_set);

/**
 * Returns the set's epoll descriptor, which is readable while a descriptor in
 * the set has events. The caller must not close it.
 *
 * @return UCS_OK
 */
ucs_status_t ucs_event_set_fd_get(ucs_sys_event_set_t *event_set,
                                  int *event_fd_p);

/** @} */

END_C_DECLS

#endif
