/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_stream_desc_t, the header of stream data that is not received yet. The
 * data is in the transport's buffer or in a copy:
 *
 *   transport's:  | headroom: descriptor | head 8 | data ...
 *   copy:         | descriptor           | 8      | data ...
 *
 * The user's pointer is the start of the data, or of its rest after receives.
 * While the user has it, the eight bytes before it hold the address of the
 * descriptor.
 */
#ifndef UCP_STREAM_DESC_H
#define UCP_STREAM_DESC_H

#include "ucp/stream/stream.h"

typedef enum {
    UCP_STREAM_DESC_UCT,  /**< In the transport's buffer */
    UCP_STREAM_DESC_POOL, /**< A copy in an element of the worker's pool; later
                           *   data may be appended while it is not full */
    UCP_STREAM_DESC_HEAP, /**< A copy from the heap */
} ucp_stream_desc_home_t;

typedef struct ucp_stream_desc {
    ucs_list_link_t link; /**< In the list `data` of its stream, or in the
                           *   worker's list `held` if the user has its
                           *   pointer */
    uint32_t offset;      /**< Bytes of the data that are already received */
    uint32_t length;      /**< Bytes of all of the data */
    uint8_t home;         /**< ucp_stream_desc_home_t */
} ucp_stream_desc_t;

/* Interfaces leave one headroom, which ucp_am_desc_t and this structure
 * share. */
_Static_assert(sizeof(ucp_stream_desc_t) == UCP_RX_HEADROOM,
               "the headroom is for descriptors of any class");

static inline char *ucp_stream_desc_data(ucp_stream_desc_t *desc)
{
    return (char *)(desc + 1) + sizeof(ucp_stream_head_t);
}

/** Returns the data that is not received yet. */
static inline char *ucp_stream_desc_rest(ucp_stream_desc_t *desc)
{
    return ucp_stream_desc_data(desc) + desc->offset;
}

static inline size_t ucp_stream_desc_left(const ucp_stream_desc_t *desc)
{
    return desc->length - desc->offset;
}

/** Stores `length` bytes at `data` behind the data that the stream already
 *  stores. ucp_stream_head_t precedes `data`. `flags`: UCT_CB_PARAM_FLAG_* of
 *  the transport's callback. Returns UCS_INPROGRESS if the data stays in the
 *  transport's buffer, UCS_OK if it is copied, and UCS_ERR_NO_MEMORY if not all
 *  data was stored. */
ucs_status_t ucp_stream_data_keep(ucp_worker_h worker, ucp_stream_t *stream,
                                  char *data, size_t length, unsigned flags);

/** For a receive that is cancelled or ends with the stream: stores the `length`
 *  bytes that it has received, as the first data of the stream, so that they
 *  can be received again. */
ucs_status_t ucp_stream_data_return(ucp_stream_t *stream, ucp_dt_iter_t *dt,
                                    size_t length);

/** Called when a receive has copied `length` bytes of the first descriptor:
 *  removes these bytes. */
void ucp_stream_data_taken(ucp_stream_t *stream, size_t length);

/** Frees all stored data. */
void ucp_stream_data_drop(ucp_stream_t *stream);

/** Removes the first descriptor from the stream and returns the pointer to the
 *  data, of *length_p bytes, which the user then releases. */
void *ucp_stream_data_hand_out(ucp_worker_h worker, ucp_stream_t *stream,
                               size_t *length_p);

/** Frees the data that a user's pointer refers to. */
void ucp_stream_data_free(void *data);

#endif
