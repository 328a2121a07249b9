/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tag matching: the hash tables of posted receives and of unexpected messages
 * (match.h).
 */
#include "ucp/tag/match.h"

#include "ucp/stats/stats.h"
#include "ucp/tag/multi.h"

#include <stdlib.h>

enum {
    FIRST_BITS      = 5,   /* log2 of the initial number of buckets */
    LOAD            = 2,   /* average entries per bucket at which a table
                            * grows */
    SMALL_DESC_SIZE = 256, /* unexpected messages up to this size are pooled */
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

static void keys_init(ucp_tag_match_t *tm, ucp_tag_t sender_mask)
{
    tm->keys[0]  = UCP_TAG_MASK_FULL;
    tm->num_keys = 1;
    if ((sender_mask != 0) && (sender_mask != UCP_TAG_MASK_FULL)) {
        tm->keys[1]  = sender_mask;
        tm->keys[2]  = ~sender_mask;
        tm->num_keys = 3;
    }
    tm->keys[tm->num_keys] = 0;
}

/* Returns the index of the key under which a receive with this mask is
 * stored. */
static unsigned key_of(const ucp_tag_match_t *tm, ucp_tag_t mask)
{
    unsigned i = 0;

    while ((mask & tm->keys[i]) != tm->keys[i]) {
        ++i;
    }
    return i;
}

static size_t grow_at(unsigned shift)
{
    return (size_t)LOAD << (64 - shift);
}

static ucs_status_t receives_init(ucp_tag_receives_t *receives, ucp_tag_t key)
{
    size_t count = (size_t)1 << FIRST_BITS;

    receives->shift   = 64 - FIRST_BITS;
    receives->count   = 0;
    receives->scanned = 0;
    /* A key without bits is for the receives whose mask covers no other key:
     * all of them are in one bucket, and the table does not grow */
    receives->limit   = (key == 0) ? SIZE_MAX : grow_at(receives->shift);
    receives->buckets = malloc(count * sizeof(*receives->buckets));
    if (receives->buckets == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    queues_init(receives->buckets, count);
    return UCS_OK;
}

static ucs_status_t expected_init(ucp_tag_match_t *tm)
{
    ucs_status_t status = UCS_OK;
    unsigned i;

    tm->expected.sn       = 0;
    tm->expected.num_wild = 0;
    for (i = 0; (i <= tm->num_keys) && (status == UCS_OK); ++i) {
        status = receives_init(&tm->expected.by_key[i], tm->keys[i]);
    }
    return status;
}

static ucs_status_t unexpected_init(ucp_tag_match_t *tm)
{
    size_t count = (size_t)tm->num_keys << FIRST_BITS;

    ucs_list_head_init(&tm->unexpected.all);
    tm->unexpected.shift   = 64 - FIRST_BITS;
    tm->unexpected.limit   = grow_at(tm->unexpected.shift);
    tm->unexpected.count   = 0;
    tm->unexpected.buckets = malloc(count * sizeof(*tm->unexpected.buckets));
    if (tm->unexpected.buckets == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    lists_init(tm->unexpected.buckets, count);
    return UCS_OK;
}

static void free_buckets(ucp_tag_match_t *tm)
{
    unsigned i;

    for (i = 0; i <= UCP_TAG_KEYS; ++i) {
        free(tm->expected.by_key[i].buckets);
    }
    free(tm->unexpected.buckets);
}

ucs_status_t ucp_tag_match_init(ucp_tag_match_t *tm, ucp_tag_t sender_mask)
{
    ucs_mpool_params_t params;
    ucs_status_t status;

    memset(&tm->expected, 0, sizeof(tm->expected));
    memset(&tm->unexpected, 0, sizeof(tm->unexpected));
    tm->offload = NULL;
    keys_init(tm, sender_mask);
    status = expected_init(tm);
    if (status == UCS_OK) {
        status = unexpected_init(tm);
    }
    if (status != UCS_OK) {
        goto err;
    }

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
    free_buckets(tm);
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
    free_buckets(tm);
}

/* Doubles the table. Each bucket splits in two and keeps its order. If memory
 * is short, the table keeps its size, and matching is slower. */
static void expected_grow(ucp_tag_receives_t *receives, ucp_tag_t key)
{
    size_t count          = (size_t)1 << (64 - receives->shift);
    ucs_queue_head_t *old = receives->buckets;
    ucs_queue_head_t *buckets;
    ucs_queue_elem_t *elem;
    size_t i;

    buckets = malloc(2 * count * sizeof(*buckets));
    if (buckets == NULL) {
        return;
    }

    queues_init(buckets, 2 * count);
    receives->buckets = buckets;
    receives->limit   = grow_at(--receives->shift);
    for (i = 0; i < count; ++i) {
        while ((elem = ucs_queue_pull(&old[i])) != NULL) {
            ucp_request_t *req = ucs_container_of(elem, ucp_request_t,
                                                  recv.queue);
            ucs_queue_push(&buckets[ucp_tag_bucket(ucp_recv_tag(req)->tag & key,
                                                   receives->shift)],
                           elem);
        }
    }
    free(old);
}

/* Adds a message to its bucket of key number `i`, which is `key`. */
static UCS_F_ALWAYS_INLINE void unexpected_link(ucp_tag_match_t *tm,
                                                ucp_recv_desc_t *desc,
                                                unsigned i, ucp_tag_t key)
{
    ucs_list_link_t *buckets = ucp_tag_unexpected_of(tm, desc->tag & key);

    ucs_list_add_tail(buckets + ((size_t)i << (64 - tm->unexpected.shift)),
                      &desc->by_key[i]);
}

static void unexpected_grow(ucp_tag_match_t *tm)
{
    size_t count = (size_t)tm->num_keys << (65 - tm->unexpected.shift);
    ucs_list_link_t *buckets;
    ucp_recv_desc_t *desc;
    unsigned i;

    buckets = malloc(count * sizeof(*buckets));
    if (buckets == NULL) {
        return;
    }

    lists_init(buckets, count);
    free(tm->unexpected.buckets);
    tm->unexpected.buckets = buckets;
    tm->unexpected.limit   = grow_at(--tm->unexpected.shift);
    ucs_list_for_each(desc, &tm->unexpected.all, by_order) {
        for (i = 0; i < tm->num_keys; ++i) {
            unexpected_link(tm, desc, i, tm->keys[i]);
        }
    }
}

static UCS_F_ALWAYS_INLINE void expected_push(ucp_tag_receives_t *receives,
                                              ucp_tag_t key, ucp_request_t *req)
{
    if (ucs_unlikely(++receives->count >= receives->limit)) {
        expected_grow(receives, key);
    }
    ucs_queue_push(&receives->buckets[ucp_tag_bucket(
                       ucp_recv_tag(req)->tag & key, receives->shift)],
                   &req->recv.queue);
}

void ucp_tag_expected_add(ucp_tag_match_t *tm, ucp_request_t *req)
{
    unsigned i;

    req->flags |= UCP_REQUEST_FLAG_EXPECTED;
    ucp_recv_tag(req)->sn = tm->expected.sn++;

    if (ucs_unlikely(ucp_recv_tag(req)->tag_mask != UCP_TAG_MASK_FULL)) {
        i = key_of(tm, ucp_recv_tag(req)->tag_mask);
        ++tm->expected.num_wild;
        expected_push(&tm->expected.by_key[i], tm->keys[i], req);
    } else {
        expected_push(&tm->expected.by_key[0], UCP_TAG_MASK_FULL, req);
    }
}

void ucp_tag_expected_restore(ucp_tag_match_t *tm, ucp_request_t *req)
{
    unsigned i                   = key_of(tm, ucp_recv_tag(req)->tag_mask);
    ucp_tag_receives_t *receives = &tm->expected.by_key[i];
    ucs_queue_head_t *bucket     = &receives->buckets[ucp_tag_bucket(
            ucp_recv_tag(req)->tag & tm->keys[i], receives->shift)];
    ucp_request_t *other;
    ucs_queue_head_t later;
    ucs_queue_elem_t *elem;

    ucs_queue_head_init(&later);
    ucs_queue_splice(&later, bucket);
    while (!ucs_queue_is_empty(&later)) {
        other = ucs_queue_head_elem_non_empty(&later, ucp_request_t,
                                              recv.queue);
        if (ucp_recv_tag(other)->sn > ucp_recv_tag(req)->sn) {
            break;
        }
        elem = ucs_queue_pull(&later);
        ucs_queue_push(bucket, elem);
    }
    ucs_queue_push(bucket, &req->recv.queue);
    ucs_queue_splice(bucket, &later);
    ++receives->count;
    tm->expected.num_wild += (i != 0);
    req->flags |= UCP_REQUEST_FLAG_EXPECTED;
}

/* Updates the counts after a receive was removed from its bucket of key `i`. */
static void expected_left(ucp_tag_match_t *tm, unsigned i, ucp_request_t *req)
{
    --tm->expected.by_key[i].count;
    tm->expected.num_wild -= (i != 0);
    req->flags &= ~UCP_REQUEST_FLAG_EXPECTED;
    if (req->flags & UCP_REQUEST_FLAG_OFFLOADED) {
        ucp_tag_offload_cancel(tm->offload, req);
    }
}

void ucp_tag_expected_remove(ucp_tag_match_t *tm, ucp_request_t *req)
{
    unsigned i                   = key_of(tm, ucp_recv_tag(req)->tag_mask);
    ucp_tag_receives_t *receives = &tm->expected.by_key[i];

    ucs_queue_remove(
        &receives->buckets[ucp_tag_bucket(ucp_recv_tag(req)->tag & tm->keys[i],
                                          receives->shift)],
        &req->recv.queue);
    expected_left(tm, i, req);
}

ucp_request_t *ucp_tag_expected_match_wild(ucp_tag_match_t *tm, ucp_tag_t tag)
{
    ucs_queue_head_t *best_bucket = NULL;
    ucs_queue_iter_t best_iter    = NULL;
    ucp_request_t *best           = NULL;
    unsigned best_key             = 0;
    ucp_tag_receives_t *receives;
    ucs_queue_head_t *bucket;
    ucs_queue_iter_t iter;
    ucp_request_t *req;
    unsigned i;

    for (i = 0; i <= tm->num_keys; ++i) {
        receives = &tm->expected.by_key[i];
        if (receives->count == 0) {
            continue;
        }
        bucket = &receives->buckets[ucp_tag_bucket(tag & tm->keys[i],
                                                   receives->shift)];
        for (iter = ucs_queue_iter_begin(bucket);
             !ucs_queue_iter_end(bucket, iter);
             iter = ucs_queue_iter_next(iter)) {
            req = ucs_container_of(*iter, ucp_request_t, recv.queue);
            if ((best != NULL) &&
                (ucp_recv_tag(req)->sn > ucp_recv_tag(best)->sn)) {
                break;
            }
            if (ucp_tag_fits(tag, ucp_recv_tag(req)->tag,
                             ucp_recv_tag(req)->tag_mask)) {
                best        = req;
                best_bucket = bucket;
                best_iter   = iter;
                best_key    = i;
                break;
            }
        }
    }

    if (best != NULL) {
        ucs_queue_del_iter(best_bucket, best_iter);
        expected_left(tm, best_key, best);
    }
    return best;
}

static ucp_request_t *receives_any(ucp_tag_receives_t *receives)
{
    size_t count = (size_t)1 << (64 - receives->shift);
    size_t i, bucket;

    /* Buckets before `scanned` are empty, unless receives were posted since the
     * call that has set it. */
    for (i = 0; (i < count) && (receives->count > 0); ++i) {
        bucket = (receives->scanned + i) & (count - 1);
        if (!ucs_queue_is_empty(&receives->buckets[bucket])) {
            receives->scanned = bucket;
            return ucs_container_of(receives->buckets[bucket].head,
                                    ucp_request_t, recv.queue);
        }
    }
    return NULL;
}

ucp_request_t *ucp_tag_expected_any(ucp_tag_match_t *tm)
{
    ucp_request_t *req = NULL;
    unsigned i;

    for (i = 0; (i <= tm->num_keys) && (req == NULL); ++i) {
        req = receives_any(&tm->expected.by_key[i]);
    }
    return req;
}

ucp_recv_desc_t *ucp_tag_unexpected_add(ucp_tag_match_t *tm,
                                        ucp_recv_desc_kind_t kind,
                                        ucp_tag_t tag, size_t length,
                                        const void *data, size_t size,
                                        size_t header_size)
{
    int from_heap = size > SMALL_DESC_SIZE;
    ucp_recv_desc_t *desc;
    unsigned i;

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
    desc->from_heap   = from_heap ? 1 : 0;
    memcpy(desc + 1, data, size);
    if (ucs_unlikely(tm->stats != NULL)) {
        ucs_stats_add_message(tm->stats, UCP_STATS_EARLY_MSGS, length);
    }

    if (ucs_unlikely(++tm->unexpected.count >= tm->unexpected.limit)) {
        unexpected_grow(tm);
    }
    desc->is_queued = 1;
    ucs_list_add_tail(&tm->unexpected.all, &desc->by_order);
    unexpected_link(tm, desc, 0, UCP_TAG_MASK_FULL);
    for (i = 1; ucs_unlikely(i < tm->num_keys); ++i) {
        unexpected_link(tm, desc, i, tm->keys[i]);
    }
    return desc;
}

/* Finds the oldest message for a mask without all bits: searches the bucket of
 * the mask's key or, if the mask covers no key, all messages. */
static ucp_recv_desc_t *unexpected_find_wild(ucp_tag_match_t *tm, ucp_tag_t tag,
                                             ucp_tag_t mask)
{
    unsigned i            = key_of(tm, mask);
    size_t link           = ucs_offsetof(ucp_recv_desc_t, by_order);
    ucs_list_link_t *list = &tm->unexpected.all;
    ucs_list_link_t *elem;
    ucp_recv_desc_t *desc;

    if (i < tm->num_keys) {
        link = ucs_offsetof(ucp_recv_desc_t, by_key) + i * sizeof(*elem);
        list = ucp_tag_unexpected_of(tm, tag & tm->keys[i]) +
               ((size_t)i << (64 - tm->unexpected.shift));
    }
    for (elem = list->next; elem != list; elem = elem->next) {
        desc = UCS_PTR_BYTE_OFFSET(elem, -(ptrdiff_t)link);
        if (ucp_tag_fits(desc->tag, tag, mask)) {
            return desc;
        }
    }
    return NULL;
}

ucp_recv_desc_t *ucp_tag_unexpected_find(ucp_tag_match_t *tm, ucp_tag_t tag,
                                         ucp_tag_t mask)
{
    ucp_recv_desc_t *desc;

    if (mask != UCP_TAG_MASK_FULL) {
        return unexpected_find_wild(tm, tag, mask);
    }
    ucs_list_for_each(desc, ucp_tag_unexpected_of(tm, tag), by_key[0]) {
        if (desc->tag == tag) {
            return desc;
        }
    }
    return NULL;
}

void ucp_tag_unexpected_remove(ucp_tag_match_t *tm, ucp_recv_desc_t *desc)
{
    unsigned i;

    --tm->unexpected.count;
    desc->is_queued = 0;
    ucs_list_del(&desc->by_order);
    ucs_list_del(&desc->by_key[0]);
    for (i = 1; ucs_unlikely(i < tm->num_keys); ++i) {
        ucs_list_del(&desc->by_key[i]);
    }
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
