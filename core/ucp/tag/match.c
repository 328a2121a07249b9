/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queues of tag matching; see match.h.
 */
#include "ucp/tag/match.h"

#include "ucp/core/stats.h"
#include "ucp/tag/multi.h"

#include <stdlib.h>

enum {
    FIRST_BITS      = 5,    /* of a hash table */
    LOAD            = 2,    /* entries a bucket before it grows */
    SMALL_DESC_SIZE = 256   /* early messages of this size are pooled */
};

static void queues_init(ucs_queue_head_t *buckets, size_t count)
{
    size_t i;

    for (i = 0; i < count; ++i) {
        ucs_queue_head_init(&buckets[i]);
    }
}

static void lists_init(ucs_list_link_t *buckets, size_t count)
{
    size_t i;

    for (i = 0; i < count; ++i) {
        ucs_list_head_init(&buckets[i]);
    }
}

ucs_status_t ucp_tag_match_init(ucp_tag_match_t *tm)
{
    size_t count = (size_t)1 << FIRST_BITS;
    ucs_mpool_params_t params;
    ucs_status_t status;

    tm->expected.shift     = 64 - FIRST_BITS;
    tm->expected.count     = 0;
    tm->expected.sn        = 0;
    tm->expected.scanned   = 0;
    tm->expected.buckets   = malloc(count * sizeof(*tm->expected.buckets));
    tm->unexpected.shift   = 64 - FIRST_BITS;
    tm->unexpected.count   = 0;
    tm->unexpected.buckets = malloc(count * sizeof(*tm->unexpected.buckets));
    if ((tm->expected.buckets == NULL) || (tm->unexpected.buckets == NULL)) {
        status = UCS_ERR_NO_MEMORY;
        goto err;
    }

    ucs_queue_head_init(&tm->expected.wildcards);
    ucs_list_head_init(&tm->unexpected.all);
    queues_init(tm->expected.buckets, count);
    lists_init(tm->unexpected.buckets, count);

    ucs_mpool_params_reset(&params);
    params.elem_size       = sizeof(ucp_recv_desc_t) + SMALL_DESC_SIZE;
    params.alignment       = 16;
    params.elems_per_chunk = 32;
    params.name            = "ucp_early_messages";
    status                 = ucs_mpool_init(&params, &tm->descs);
    if (status != UCS_OK) {
        goto err;
    }
    return UCS_OK;

err:
    free(tm->unexpected.buckets);
    free(tm->expected.buckets);
    return status;
}

void ucp_tag_match_cleanup(ucp_tag_match_t *tm)
{
    ucp_recv_desc_t *desc, *next;

    ucs_list_for_each_safe(desc, next, &tm->unexpected.all, by_order) {
        ucp_tag_unexpected_remove(tm, desc);
        ucp_tag_unexpected_free(desc);
    }
    ucs_mpool_cleanup(&tm->descs, 1);
    free(tm->unexpected.buckets);
    free(tm->expected.buckets);
}

/* Doubles the table. The buckets keep their order: each splits in two. When
 * there is no memory the table stays as it is and is slower. */
static void expected_grow(ucp_tag_match_t *tm)
{
    unsigned bits = 64 - tm->expected.shift;
    size_t count  = (size_t)1 << bits;
    ucs_queue_head_t *old = tm->expected.buckets;
    ucs_queue_head_t *buckets;
    ucs_queue_elem_t *elem;
    size_t i;

    buckets = malloc(2 * count * sizeof(*buckets));
    if (buckets == NULL) {
        return;
    }

    queues_init(buckets, 2 * count);
    tm->expected.buckets = buckets;
    --tm->expected.shift;
    for (i = 0; i < count; ++i) {
        while ((elem = ucs_queue_pull(&old[i])) != NULL) {
            ucp_request_t *req = ucs_container_of(elem, ucp_request_t,
                                                  recv.queue);
            ucs_queue_push(&buckets[ucp_tag_bucket(req->recv.tag,
                                                   tm->expected.shift)],
                           elem);
        }
    }
    free(old);
}

static void unexpected_grow(ucp_tag_match_t *tm)
{
    unsigned bits = 64 - tm->unexpected.shift;
    size_t count  = (size_t)2 << bits;
    ucs_list_link_t *buckets;
    ucp_recv_desc_t *desc;

    buckets = malloc(count * sizeof(*buckets));
    if (buckets == NULL) {
        return;
    }

    lists_init(buckets, count);
    --tm->unexpected.shift;
    ucs_list_for_each(desc, &tm->unexpected.all, by_order) {
        ucs_list_add_tail(&buckets[ucp_tag_bucket(desc->tag,
                                                  tm->unexpected.shift)],
                          &desc->by_tag);
    }
    free(tm->unexpected.buckets);
    tm->unexpected.buckets = buckets;
}

void ucp_tag_expected_add(ucp_tag_match_t *tm, ucp_request_t *req)
{
    req->flags  |= UCP_REQUEST_FLAG_EXPECTED;
    req->recv.sn = tm->expected.sn++;

    if (ucs_unlikely(req->recv.tag_mask != UCP_TAG_MASK_FULL)) {
        ucs_queue_push(&tm->expected.wildcards, &req->recv.queue);
        return;
    }

    if (ucs_unlikely((++tm->expected.count >> (64 - tm->expected.shift)) >=
                     LOAD)) {
        expected_grow(tm);
    }
    ucs_queue_push(&tm->expected.buckets[ucp_tag_bucket(req->recv.tag,
                                                        tm->expected.shift)],
                   &req->recv.queue);
}

void ucp_tag_expected_remove(ucp_tag_match_t *tm, ucp_request_t *req)
{
    ucs_queue_head_t *queue;

    if (req->recv.tag_mask != UCP_TAG_MASK_FULL) {
        queue = &tm->expected.wildcards;
    } else {
        queue = &tm->expected.buckets[ucp_tag_bucket(req->recv.tag,
                                                     tm->expected.shift)];
        --tm->expected.count;
    }
    ucs_queue_remove(queue, &req->recv.queue);
    req->flags &= ~UCP_REQUEST_FLAG_EXPECTED;
}

ucp_request_t *ucp_tag_expected_match_wild(ucp_tag_match_t *tm, ucp_tag_t tag)
{
    ucs_queue_head_t *bucket =
            &tm->expected.buckets[ucp_tag_bucket(tag, tm->expected.shift)];
    ucs_queue_head_t *wild = &tm->expected.wildcards;
    ucp_request_t *exact   = NULL;
    ucs_queue_iter_t exact_iter, iter;
    ucp_request_t *req;

    for (exact_iter = ucs_queue_iter_begin(bucket);
         !ucs_queue_iter_end(bucket, exact_iter);
         exact_iter = ucs_queue_iter_next(exact_iter)) {
        req = ucs_container_of(*exact_iter, ucp_request_t, recv.queue);
        if (req->recv.tag == tag) {
            exact = req;
            break;
        }
    }

    for (iter = ucs_queue_iter_begin(wild); !ucs_queue_iter_end(wild, iter);
         iter = ucs_queue_iter_next(iter)) {
        req = ucs_container_of(*iter, ucp_request_t, recv.queue);
        if ((exact != NULL) && (req->recv.sn > exact->recv.sn)) {
            break;
        }
        if (ucp_tag_fits(tag, req->recv.tag, req->recv.tag_mask)) {
            ucs_queue_del_iter(wild, iter);
            req->flags &= ~UCP_REQUEST_FLAG_EXPECTED;
            return req;
        }
    }

    if (exact != NULL) {
        ucs_queue_del_iter(bucket, exact_iter);
        --tm->expected.count;
        exact->flags &= ~UCP_REQUEST_FLAG_EXPECTED;
    }
    return exact;
}

ucp_request_t *ucp_tag_expected_any(ucp_tag_match_t *tm)
{
    size_t count = (size_t)1 << (64 - tm->expected.shift);
    size_t i, bucket;

    if (!ucs_queue_is_empty(&tm->expected.wildcards)) {
        return ucs_container_of(tm->expected.wildcards.head, ucp_request_t,
                                recv.queue);
    }
    /* those before the last one found are empty, unless more was posted */
    for (i = 0; (i < count) && (tm->expected.count > 0); ++i) {
        bucket = (tm->expected.scanned + i) & (count - 1);
        if (!ucs_queue_is_empty(&tm->expected.buckets[bucket])) {
            tm->expected.scanned = bucket;
            return ucs_container_of(tm->expected.buckets[bucket].head,
                                    ucp_request_t, recv.queue);
        }
    }
    return NULL;
}

ucp_recv_desc_t *
ucp_tag_unexpected_add(ucp_tag_match_t *tm, ucp_recv_desc_kind_t kind,
                       ucp_tag_t tag, size_t length, const void *data,
                       size_t size, size_t header_size)
{
    int from_heap = size > SMALL_DESC_SIZE;
    ucp_recv_desc_t *desc;

    desc = from_heap ? malloc(sizeof(*desc) + size) :
                       ucs_mpool_get_inline(&tm->descs);
    if (ucs_unlikely(desc == NULL)) {
        return NULL;
    }

    desc->tag         = tag;
    desc->length      = length;
    desc->size        = (uint32_t)size;
    desc->header_size = (uint16_t)header_size;
    desc->kind        = kind;
    desc->from_heap   = from_heap;
    memcpy(desc + 1, data, size);
    if (ucs_unlikely(tm->stats != NULL)) {
        ucs_stats_add_message(tm->stats, UCP_STATS_EARLY_MSGS, length);
    }

    if (ucs_unlikely((++tm->unexpected.count >>
                      (64 - tm->unexpected.shift)) >= LOAD)) {
        unexpected_grow(tm);
    }
    ucs_list_add_tail(&tm->unexpected.all, &desc->by_order);
    ucs_list_add_tail(&tm->unexpected.buckets[
                              ucp_tag_bucket(tag, tm->unexpected.shift)],
                      &desc->by_tag);
    return desc;
}

ucp_recv_desc_t *ucp_tag_unexpected_find(ucp_tag_match_t *tm, ucp_tag_t tag,
                                         ucp_tag_t mask)
{
    ucp_recv_desc_t *desc;

    if (mask == UCP_TAG_MASK_FULL) {
        ucs_list_for_each(desc,
                          &tm->unexpected.buckets[
                                  ucp_tag_bucket(tag, tm->unexpected.shift)],
                          by_tag) {
            if (desc->tag == tag) {
                return desc;
            }
        }
    } else {
        ucs_list_for_each(desc, &tm->unexpected.all, by_order) {
            if (ucp_tag_fits(desc->tag, tag, mask)) {
                return desc;
            }
        }
    }
    return NULL;
}

void ucp_tag_unexpected_remove(ucp_tag_match_t *tm, ucp_recv_desc_t *desc)
{
    --tm->unexpected.count;
    ucs_list_del(&desc->by_order);
    ucs_list_del(&desc->by_tag);
}

void ucp_tag_unexpected_free(ucp_recv_desc_t *desc)
{
    if (desc->kind == UCP_RECV_DESC_MULTI) {
        ucp_tag_multi_free(ucp_tag_multi_of(desc));
    }
    if (desc->from_heap) {
        free(desc);
    } else {
        ucs_mpool_put_inline(desc);
    }
}
