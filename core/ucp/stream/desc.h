/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data of a stream that no receive has taken yet, in the transport's buffer or
 * in a copy:
 *
 *   transport's:  | headroom: descriptor | head 8 | data ...
 *   copy:         | descriptor           | 8      | data ...
 *
 * What the user is given begins at the data or, if receives have taken some, at
 * the rest; the eight bytes in front of it, whatever they were, then hold the
 * descriptor's address.
 */
#ifndef UCP_STREAM_DESC_H
#define UCP_STREAM_DESC_H

#include "ucp/am/desc.h"
#include "ucp/stream/stream.h"

typedef enum {
    UCP_STREAM_DESC_UCT,    /**< In the transport's buffer */
    UCP_STREAM_DESC_POOL,   /**< A copy, with room for more */
    UCP_STREAM_DESC_HEAP    /**< A copy */
} ucp_stream_desc_home_t;

typedef struct ucp_stream_desc {
    ucs_list_link_t link;         /**< In a stream's data, or held */
    uint32_t        offset;       /**< Bytes that receives have taken */
    uint32_t        length;       /**< Bytes in all */
    uint8_t         home;         /**< ucp_stream_desc_home_t */
} ucp_stream_desc_t;

/* Interfaces leave the same room for either class. */
_Static_assert(sizeof(ucp_stream_desc_t) == UCP_AM_HEADROOM,
               "the headroom is for descriptors of any class");

static inline char *ucp_stream_desc_data(ucp_stream_desc_t *desc)
{
    return (char *)(desc + 1) + sizeof(ucp_stream_head_t);
}

/** What is left of the data. */
static inline char *ucp_stream_desc_rest(ucp_stream_desc_t *desc)
{
    return ucp_stream_desc_data(desc) + desc->offset;
}

static inline size_t ucp_stream_desc_left(const ucp_stream_desc_t *desc)
{
    return desc->length - desc->offset;
}

/** Keeps data that has just arrived after its head, behind what is there.
 *  `flags`: as the transport gave them. UCS_INPROGRESS: it lies in the
 *  transport's buffer. UCS_ERR_NO_MEMORY: not all of it is kept. */
ucs_status_t ucp_stream_data_keep(ucp_worker_h worker, ucp_stream_t *stream,
                                  char *data, size_t length, unsigned flags);

/** Puts what a receive had taken in front of what is there. */
ucs_status_t ucp_stream_data_return(ucp_stream_t *stream, ucp_dt_iter_t *dt,
                                    size_t length);

/** A receive has taken `length` bytes of the first piece. */
void ucp_stream_data_taken(ucp_stream_t *stream, size_t length);

/** Drops all of it. */
void ucp_stream_data_drop(ucp_stream_t *stream);

/** Hands out the first piece: what the user is given. */
void *ucp_stream_data_hand_out(ucp_worker_h worker, ucp_stream_t *stream,
                               size_t *length_p);

/** Frees what the user was given. */
void ucp_stream_data_free(void *data);

#endif
