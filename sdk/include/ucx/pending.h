/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A first-in, first-out queue of pending requests. The links are in the
 * requests themselves.
 */
#ifndef UCX_PENDING_H
#define UCX_PENDING_H

#include <ucx/transport.h>

UCX_BEGIN_DECLS

typedef struct ucx_pending_queue {
    uct_pending_req_t *head;
    uct_pending_req_t *tail; /**< Valid while head is not NULL */
} ucx_pending_queue_t;

/** The link to the next request of the queue. It is in the part of the request
 *  that belongs to the transport. */
static inline uct_pending_req_t **ucx_pending_next(uct_pending_req_t *req)
{
    return (uct_pending_req_t **)(void *)req->priv;
}

static inline void ucx_pending_init(ucx_pending_queue_t *queue)
{
    queue->head = NULL;
    queue->tail = NULL;
}

static inline int ucx_pending_is_empty(const ucx_pending_queue_t *queue)
{
    return queue->head == NULL;
}

static inline void ucx_pending_push(ucx_pending_queue_t *queue,
                                    uct_pending_req_t *req)
{
    *ucx_pending_next(req) = NULL;
    if (queue->head == NULL) {
        queue->head = req;
    } else {
        *ucx_pending_next(queue->tail) = req;
    }
    queue->tail = req;
}

static inline uct_pending_req_t *ucx_pending_pop(ucx_pending_queue_t *queue)
{
    uct_pending_req_t *req = queue->head;

    if (req != NULL) {
        queue->head = *ucx_pending_next(req);
    }
    return req;
}

/** Puts back the request that was popped last. */
static inline void ucx_pending_push_front(ucx_pending_queue_t *queue,
                                          uct_pending_req_t *req)
{
    *ucx_pending_next(req) = queue->head;
    if (queue->head == NULL) {
        queue->tail = req;
    }
    queue->head = req;
}

/**
 * Implements pending_purge for a queue of one endpoint: empties the queue, and
 * passes its requests to `cb` in order, unless `cb` is NULL. Requests that the
 * callback adds stay in the queue.
 */
static inline void ucx_pending_purge(ucx_pending_queue_t *queue,
                                     uct_pending_purge_callback_t cb, void *arg)
{
    ucx_pending_queue_t all = *queue;
    uct_pending_req_t *req;

    ucx_pending_init(queue);
    while ((req = ucx_pending_pop(&all)) != NULL) {
        if (cb != NULL) {
            cb(req, arg);
        }
    }
}

/**
 * Calls the function of each request in order, until the queue is empty or a
 * function returns another status than UCS_OK. The request of that function
 * stays the first of the queue. Returns the number of requests that succeeded.
 * A function may add requests to the queue.
 */
static inline unsigned ucx_pending_dispatch(ucx_pending_queue_t *queue)
{
    unsigned count = 0;
    uct_pending_req_t *req;

    while ((req = ucx_pending_pop(queue)) != NULL) {
        if (req->func(req) != UCS_OK) {
            ucx_pending_push_front(queue, req);
            break;
        }
        ++count;
    }

    return count;
}

/* Functions for a queue that several endpoints of an interface share. After the
 * link, each request stores the endpoint to which it belongs. */

static inline uct_ep_h *ucx_pending_owner(uct_pending_req_t *req)
{
    return (uct_ep_h *)(void *)(req->priv + sizeof(uct_pending_req_t *));
}

/** Implements pending_add for `ep`. */
static inline void ucx_pending_push_of(ucx_pending_queue_t *queue, uct_ep_h ep,
                                       uct_pending_req_t *req)
{
    *ucx_pending_owner(req) = ep;
    ucx_pending_push(queue, req);
}

/** Implements pending_purge for `ep`: removes its requests and passes them to
 *  `cb`, unless `cb` is NULL. Keeps the requests of other endpoints. */
static inline void ucx_pending_purge_of(ucx_pending_queue_t *queue, uct_ep_h ep,
                                        uct_pending_purge_callback_t cb,
                                        void *arg)
{
    ucx_pending_queue_t all = *queue;
    uct_pending_req_t *req;

    ucx_pending_init(queue);
    while ((req = ucx_pending_pop(&all)) != NULL) {
        if (*ucx_pending_owner(req) != ep) {
            ucx_pending_push(queue, req);
        } else if (cb != NULL) {
            cb(req, arg);
        }
    }
}

UCX_END_DECLS

#endif
