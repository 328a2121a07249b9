/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous events: handlers of file descriptors and timers. Their mode
 * (ucs_async_mode_t) selects what calls them: a thread of the library, a signal
 * handler or ucs_async_poll().
 */
#ifndef UCS_ASYNC_FWD_H
#define UCS_ASYNC_FWD_H

#include <ucs/config/types.h>
#include <ucs/sys/event_set.h>
#include <ucs/time/time_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/** @addtogroup UCS_ASYNC
 *  @{ */

/** A value that is never a thread id. */
#define UCS_ASYNC_PTHREAD_ID_NULL ((pthread_t)-1)

/** Context to which handlers belong, and which can block them; opaque. */
typedef struct ucs_async_context ucs_async_context_t;

/**
 * Event handler.
 *
 * @param [in] id      Descriptor, or id of the timer.
 * @param [in] events  Events of the descriptor; 0 for a timer.
 * @param [in] arg     Argument that was passed with the handler.
 */
typedef void (*ucs_async_event_cb_t)(int id, ucs_event_set_types_t events,
                                     void *arg);

/**
 * Calls @a cb when a descriptor has events. A descriptor can have only one
 * handler in a process.
 *
 * @param [in] mode      What calls the handler. If @a async is not NULL, this
 *                       must be the mode of that context.
 * @param [in] event_fd  Descriptor to watch. Remove the handler before the
 *                       descriptor is closed.
 * @param [in] events    Events to watch for.
 * @param [in] cb        Handler.
 * @param [in] arg       Passed to the handler.
 * @param [in] async     Context that can block the handler, or NULL: the
 *                       handler cannot be blocked.
 *
 * @return UCS_ERR_ALREADY_EXISTS if the descriptor has a handler.
 */
ucs_status_t ucs_async_set_event_handler(ucs_async_mode_t mode, int event_fd,
                                         ucs_event_set_types_t events,
                                         ucs_async_event_cb_t cb, void *arg,
                                         ucs_async_context_t *async);

/**
 * Calls @a cb every @a interval until the timer is removed.
 *
 * @param [in]  mode        As of @ref ucs_async_set_event_handler.
 * @param [in]  interval    Period, in units of @ref ucs_time_t.
 * @param [in]  cb          Handler.
 * @param [in]  arg         Passed to the handler.
 * @param [in]  async       As of @ref ucs_async_set_event_handler.
 * @param [out] timer_id_p  Id of the timer.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM; UCS_ERR_NO_MEMORY; or the error of the
 *         kernel if it cannot create a timer or a thread
 */
ucs_status_t ucs_async_add_timer(ucs_async_mode_t mode, ucs_time_t interval,
                                 ucs_async_event_cb_t cb, void *arg,
                                 ucs_async_context_t *async, int *timer_id_p);

/**
 * Removes a handler.
 *
 * @param [in] id    Descriptor or timer id.
 * @param [in] sync  If nonzero, return only when no thread is running the
 *                   handler. If the handler itself calls this function, the
 *                   removal takes effect when the handler returns.
 *
 * @return UCS_ERR_NO_ELEM if there is no such handler.
 */
ucs_status_t ucs_async_remove_handler(int id, int sync);

/**
 * Changes the events that the handler of a descriptor watches for.
 *
 * @return UCS_OK; UCS_ERR_NO_ELEM if the descriptor has no handler;
 *         UCS_ERR_INVALID_PARAM
 */
ucs_status_t ucs_async_modify_handler(int fd, ucs_event_set_types_t events);

/**
 * Creates a context.
 *
 * @param [in]  mode     How events of its handlers are delivered, and which
 *                       kind of lock the context uses. In signal mode, handlers
 *                       interrupt the calling thread and must be
 *                       async-signal-safe; only that thread may use the
 *                       context.
 * @param [out] async_p  The context.
 *
 * @return UCS_OK; UCS_ERR_NO_MEMORY; UCS_ERR_INVALID_PARAM for an unknown mode
 */
ucs_status_t ucs_async_context_create(ucs_async_mode_t mode,
                                      ucs_async_context_t **async_p);

/** Removes the remaining handlers of the context and frees the context. Must
 * not be called from a handler of the context. */
void ucs_async_context_destroy(ucs_async_context_t *async);

/**
 * Runs the handlers of a context that are due now.
 *
 * @param [in] async  Context, or NULL for all contexts.
 */
void ucs_async_poll(ucs_async_context_t *async);

/** @} */

END_C_DECLS

#endif
