/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stores the data of a stream for which no receive is posted, in the
 * transport's buffer or in a copy, and releases it (desc.h).
 */
#include "ucp/stream/desc.h"

#include "ucp/base/worker.h"
#include "ucp/dt/dt.h"
#include "ucs/sys/math.h"

#include <stdlib.h>
#include <string.h>

enum {
    POOL_SIZE = 2048,    /* Bytes of data that a copy from the pool can hold */
    UCT_MIN   = 1024,    /* Shorter data is copied, so that it does not occupy
                          * a buffer of the transport */
    HEAP_MAX  = 1 << 30, /* Maximum bytes of data of a descriptor, whose
                          * lengths have 32 bits */
};

/* Bytes of a copy before its data. */
#define PREFIX (sizeof(ucp_stream_desc_t) + sizeof(ucp_stream_head_t))

ucs_status_t ucp_stream_worker_init(ucp_stream_worker_t *streams)
{
    ucs_mpool_params_t pool;

    ucs_hash_init(&streams->by_key);
    ucs_hash_init(&streams->by_name);
    ucs_hash_init(&streams->numbers);
    ucs_list_head_init(&streams->ready);
    ucs_list_head_init(&streams->unclaimed);
    ucs_list_head_init(&streams->held);

    ucs_mpool_params_reset(&pool);
    pool.elem_size       = PREFIX + POOL_SIZE;
    pool.alignment       = 16;
    pool.elems_per_chunk = 8;
    pool.name            = "ucp_stream_data";
    return ucs_mpool_init(&pool, &streams->descs);
}

void ucp_stream_worker_cleanup(ucp_stream_worker_t *streams)
{
    ucs_mpool_cleanup(&streams->descs, 1);
    ucs_hash_cleanup(&streams->numbers);
    ucs_hash_cleanup(&streams->by_name);
    ucs_hash_cleanup(&streams->by_key);
}

static void desc_free(ucp_stream_desc_t *desc)
{
    switch (desc->home) {
    case UCP_STREAM_DESC_UCT:
        uct_iface_release_desc(desc);
        break;
    case UCP_STREAM_DESC_POOL:
        ucs_mpool_put_inline(desc);
        break;
    default:
        free(desc);
        break;
    }
}

static void desc_set(ucp_stream_desc_t *desc, ucp_stream_desc_home_t home,
                     size_t length)
{
    desc->home   = home;
    desc->offset = 0;
    desc->length = (uint32_t)length;
}

/* Creates a descriptor for a copy with space for as many of `length` bytes as
 * possible; *size_p is that number. If `streams` is NULL, uses neither the pool
 * nor the worker's reserve of memory. Returns NULL if out of memory. */
static ucp_stream_desc_t *desc_get(ucp_stream_worker_t *streams, size_t length,
                                   size_t *size_p)
{
    int small = (length <= POOL_SIZE) && (streams != NULL);
    ucp_stream_desc_t *desc;

    *size_p = ucs_min(length, (size_t)HEAP_MAX);
    do {
        desc = small ? ucs_mpool_get_inline(&streams->descs) :
                       malloc(PREFIX + *size_p);
    } while (ucs_unlikely(desc == NULL) && (streams != NULL) &&
             ucp_reserve_spend(
                 ucs_container_of(streams, ucp_worker_t, areas.stream)));
    if (desc != NULL) {
        desc_set(desc, small ? UCP_STREAM_DESC_POOL : UCP_STREAM_DESC_HEAP, 0);
    }
    return desc;
}

/* Appends data to the last descriptor of the stream, if that is a copy from
 * the pool with free space. Returns the number of bytes that were appended. */
static size_t fill_up(ucp_stream_t *stream, const char *data, size_t length)
{
    ucp_stream_desc_t *last;

    if (ucs_list_is_empty(&stream->data)) {
        return 0;
    }

    last = ucs_list_tail(&stream->data, ucp_stream_desc_t, link);
    if (last->home != UCP_STREAM_DESC_POOL) {
        return 0;
    }

    length = ucs_min(length, (size_t)(POOL_SIZE - last->length));
    memcpy(ucp_stream_desc_data(last) + last->length, data, length);
    last->length += (uint32_t)length;
    stream->available += length;
    return length;
}

static void drop_list(ucs_list_link_t *list)
{
    while (!ucs_list_is_empty(list)) {
        desc_free(ucs_list_extract_head(list, ucp_stream_desc_t, link));
    }
}

static ucs_status_t keep_copy(ucp_stream_worker_t *streams,
                              ucp_stream_t *stream, const char *data,
                              size_t length)
{
    size_t filled = fill_up(stream, data, length);
    UCS_LIST_HEAD(chunks);
    ucp_stream_desc_t *desc;
    size_t size, done;

    for (done = filled; done < length; done += size) {
        desc = desc_get(streams, length - done, &size);
        if (desc == NULL) {
            drop_list(&chunks);
            return UCS_ERR_NO_MEMORY;
        }
        desc->length = (uint32_t)size;
        memcpy(ucp_stream_desc_data(desc), data + done, size);
        ucs_list_add_tail(&chunks, &desc->link);
    }
    ucs_list_splice_tail(&stream->data, &chunks);
    stream->available += length - filled;
    return UCS_OK;
}

ucs_status_t ucp_stream_data_keep(ucp_worker_h worker, ucp_stream_t *stream,
                                  char *data, size_t length, unsigned flags)
{
    char *head = data - sizeof(ucp_stream_head_t);
    ucp_stream_desc_t *desc;

    if (!(flags & UCT_CB_PARAM_FLAG_DESC) || (length < UCT_MIN) ||
        (length > HEAP_MAX) ||
        (((uintptr_t)head % _Alignof(ucp_stream_desc_t)) != 0)) {
        return keep_copy(ucp_worker_stream(worker), stream, data, length);
    }

    desc = (ucp_stream_desc_t *)head - 1;
    desc_set(desc, UCP_STREAM_DESC_UCT, length);
    ucs_list_add_tail(&stream->data, &desc->link);
    stream->available += length;
    return UCS_INPROGRESS;
}

ucs_status_t ucp_stream_data_return(ucp_stream_t *stream, ucp_dt_iter_t *dt,
                                    size_t length)
{
    UCS_LIST_HEAD(chunks);
    ucp_stream_desc_t *desc;
    size_t size, done;

    for (done = 0; done < length; done += size) {
        desc = desc_get(NULL, length - done, &size);
        if (desc == NULL) {
            drop_list(&chunks);
            return UCS_ERR_NO_MEMORY;
        }
        desc->length = (uint32_t)size;
        ucs_list_add_tail(&chunks, &desc->link);
        if (ucp_dt_iter_pack(dt, ucp_stream_desc_data(desc), size) != size) {
            drop_list(&chunks);
            return UCS_ERR_IO_ERROR;
        }
    }
    ucs_list_splice_tail(&chunks, &stream->data);
    ucs_list_splice_tail(&stream->data, &chunks);
    stream->available += length;
    return UCS_OK;
}

void ucp_stream_data_taken(ucp_stream_t *stream, size_t length)
{
    ucp_stream_desc_t *desc = ucs_list_head(&stream->data, ucp_stream_desc_t,
                                            link);

    desc->offset += (uint32_t)length;
    stream->available -= length;
    if (desc->offset == desc->length) {
        ucs_list_del(&desc->link);
        desc_free(desc);
    }
}

void ucp_stream_data_drop(ucp_stream_t *stream)
{
    drop_list(&stream->data);
    stream->available = 0;
}

void *ucp_stream_data_hand_out(ucp_worker_h worker, ucp_stream_t *stream,
                               size_t *length_p)
{
    ucp_stream_desc_t *desc = ucs_list_extract_head(&stream->data,
                                                    ucp_stream_desc_t, link);
    char *data              = ucp_stream_desc_rest(desc);

    *length_p = ucp_stream_desc_left(desc);
    stream->available -= *length_p;
    memcpy(data - sizeof(desc), &desc, sizeof(desc));
    ucs_list_add_tail(&ucp_worker_stream(worker)->held, &desc->link);
    return data;
}

void ucp_stream_data_free(void *data)
{
    ucp_stream_desc_t *desc;

    memcpy(&desc, (char *)data - sizeof(desc), sizeof(desc));
    ucs_list_del(&desc->link);
    desc_free(desc);
}
