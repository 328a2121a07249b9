/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completions: reports the end of an operation, and combines several operations
 * of a transport into one with a single completion. Optional.
 *
 * An operation with parts, for example a flush of all endpoints:
 *
 *   ucx_count_t *count = ucx_count_create(comp);
 *
 *   if (count == NULL) {
 *       return UCS_ERR_NO_MEMORY;
 *   }
 *   for (each part) {
 *       ucx_count_result(count, start(part, ucx_count_add(count)));
 *   }
 *   return ucx_count_close(count);
 */
#ifndef UCX_COUNT_H
#define UCX_COUNT_H

#include <stdlib.h>

#include <uct/api/uct.h>
#include <ucx/abi.h>

UCX_BEGIN_DECLS

/**
 * Completes an operation that has returned UCS_INPROGRESS: stores the first
 * error in the completion, decrements the completion's count of operations, and
 * calls the completion if the count is 0. `comp` may be NULL. Call it from
 * progress, in the worker's thread. The callback may free `comp`.
 */
static inline void ucx_complete(uct_completion_t *comp, ucs_status_t status)
{
    if (comp == NULL) {
        return;
    }
    if ((status != UCS_OK) && (comp->status == UCS_OK)) {
        comp->status = status;
    }
    if (--comp->count == 0) {
        comp->func(comp);
    }
}

/** An operation that consists of parts. Only the functions below access the
 *  members. One thread at a time. */
typedef struct ucx_count {
    uct_completion_t super; /**< First member: completion of the parts */
    uct_completion_t *comp; /**< The user's completion; NULL: the user gets no
                             *   callback */
} ucx_count_t;

/** Completion callback of the parts. Called if the last part ends after
 *  ucx_count_close(). */
static inline void ucx_count_end(uct_completion_t *super)
{
    ucx_count_t *count     = (ucx_count_t *)super;
    uct_completion_t *comp = count->comp;
    ucs_status_t status    = super->status;

    free(count);
    ucx_complete(comp, status);
}

/** Begins an operation that has no parts yet; `comp` is the user's completion.
 *  Returns NULL if out of memory. The object is freed when it is closed and its
 *  last part has ended. */
static inline ucx_count_t *ucx_count_create(uct_completion_t *comp)
{
    ucx_count_t *count = (ucx_count_t *)malloc(sizeof(*count));

    if (count != NULL) {
        /* super.count is one more than the number of outstanding parts, so that
         * the operation cannot end before ucx_count_close() */
        count->super.func   = ucx_count_end;
        count->super.count  = 1;
        count->super.status = UCS_OK;
        count->comp         = comp;
    }
    return count;
}

/** Adds a part. Returns the completion to pass to the call that starts the
 *  part; pass the status of that call to ucx_count_result(). */
static inline uct_completion_t *ucx_count_add(ucx_count_t *count)
{
    ++count->super.count;
    return &count->super;
}

/** Records the status with which a part started. UCS_INPROGRESS: the part ends
 *  by ucx_complete() for its completion, called before or after this function.
 *  After another status the part has ended. */
static inline void ucx_count_result(ucx_count_t *count, ucs_status_t status)
{
    if (status != UCS_INPROGRESS) {
        --count->super.count;
        if ((status != UCS_OK) && (count->super.status == UCS_OK)) {
            count->super.status = status;
        }
    }
}

/**
 * Ends the addition of parts: call it when all parts have been started. Returns
 * the operation's status for the user. UCS_INPROGRESS: the user's completion is
 * called when the last part ends. UCS_OK or an error: the user's completion is
 * not called. After an error, parts that have been started may end later.
 */
static inline ucs_status_t ucx_count_close(ucx_count_t *count)
{
    ucs_status_t status = count->super.status;

    if (--count->super.count == 0) {
        free(count);
        return status;
    }
    if (status != UCS_OK) {
        count->comp = NULL;
        return status;
    }
    return UCS_INPROGRESS;
}

/** Ends an outstanding part without its result, for example because its
 *  interface is closed; `part` is the completion from ucx_count_add(). Call it
 *  instead of ucx_complete(). The user's completion of the whole operation will
 *  not be called. */
static inline void ucx_count_drop(uct_completion_t *part)
{
    ((ucx_count_t *)part)->comp = NULL;
    ucx_complete(part, UCS_OK);
}

UCX_END_DECLS

#endif
