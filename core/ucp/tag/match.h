/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tag matching: posted receives that wait for a message, and unexpected
 * messages that wait for a receive. Both are hashed, so that the time of a match
 * does not grow with their number.
 *
 * There is one key for each kind of receive: the bits of the tag by which such
 * receives are hashed.
 *
 *   key                | receives whose mask covers it
 *   -------------------+-----------------------------------------------------
 *   all bits           | of one tag
 *   tag_sender_mask    | of one sender, with any tag
 *   ~tag_sender_mask   | of one tag, from any sender
 *   none               | all others, in one list
 *
 * A receive is kept under the first key that its mask covers. Messages are kept
 * under every key, and in a list of all. The second and the third key exist only
 * if the program has set ucp_params_t::tag_sender_mask.
 *
 * Order: among several receives that fit a message the one that was posted
 * first matches; among several messages that fit a receive, the one that came
 * first. A number of posting tells which of two receives under different keys is
 * older.
 */
#ifndef UCP_TAG_MATCH_H
#define UCP_TAG_MATCH_H

#include <ucs/sys/compiler_def.h>

#include "ucp/core/request.h"

#define UCP_TAG_MASK_FULL UINT64_MAX

/** Keys by which receives and messages are hashed, at most. */
enum {
    UCP_TAG_KEYS = 3
};

/** What an early message is. */
typedef enum {
    UCP_RECV_DESC_EAGER,
    UCP_RECV_DESC_EAGER_SYNC,
    UCP_RECV_DESC_RNDV,
    UCP_RECV_DESC_MULTI      /**< Fragments, perhaps not all: behind the header
                                  stands a pointer, see multi.h */
} ucp_recv_desc_kind_t;

/**
 * A message that came before its receive: the handle of a probe. The bytes that
 * arrived follow it.
 */
struct ucp_recv_desc {
    ucs_list_link_t by_order;     /**< In arrival order */
    ucs_list_link_t by_key[UCP_TAG_KEYS]; /**< In its bucket of each key */
    ucp_tag_t       tag;
    size_t          length;       /**< Of the whole message */
    uint32_t        size;         /**< Bytes stored behind this header */
    uint16_t        header_size;  /**< Of these, before the payload */
    uint8_t         kind;         /**< ucp_recv_desc_kind_t */
    uint8_t         from_heap;    /**< Else from the pool */
};
typedef struct ucp_recv_desc ucp_recv_desc_t;

/** Posted receives under one key. */
typedef struct ucp_tag_receives {
    ucs_queue_head_t *buckets;   /**< In posting order */
    unsigned         shift;      /**< 64 - log2(number of buckets) */
    size_t           count;
    size_t           limit;      /**< Number of receives at which it grows */
    size_t           scanned;    /**< Bucket that was found not empty by
                                      ucp_tag_expected_any() */
} ucp_tag_receives_t;

typedef struct ucp_tag_match {
    /* first, and with the first key next to it: all that a match reads is in
     * one cache line */
    struct {
        size_t             num_wild;  /**< Receives not under the first key */
        uint64_t           sn;        /**< Of the next posted receive */
        ucp_tag_receives_t by_key[UCP_TAG_KEYS + 1];
    } expected;
    struct {
        ucs_list_link_t  *buckets; /**< Of the first key, of the second, ... */
        unsigned         shift;    /**< 64 - log2(number of buckets of a key) */
        size_t           count;
        size_t           limit;    /**< Number of messages at which they grow */
        ucs_list_link_t  all;
    } unexpected;
    ucp_tag_t            keys[UCP_TAG_KEYS + 1]; /**< The first is all bits; 0
                                                      after the last */
    unsigned             num_keys;
    ucs_mpool_t          descs;      /**< For small early messages */
    struct ucs_stats_record *stats;  /**< Counts early messages; or NULL */
} ucp_tag_match_t;

/** `sender_mask`: see ucp_params_t::tag_sender_mask. */
ucs_status_t ucp_tag_match_init(ucp_tag_match_t *tm, ucp_tag_t sender_mask);

/** Drops early messages; posted receives are the caller's to end before. */
void ucp_tag_match_cleanup(ucp_tag_match_t *tm);

static UCS_F_ALWAYS_INLINE uint64_t
ucp_tag_bucket(ucp_tag_t tag, unsigned shift)
{
    return (tag * 0x9e3779b97f4a7c15ull) >> shift;
}

static UCS_F_ALWAYS_INLINE int
ucp_tag_fits(ucp_tag_t tag, ucp_tag_t wanted, ucp_tag_t mask)
{
    return ((tag ^ wanted) & mask) == 0;
}

/** Posts a receive. Its tag and mask are set. */
void ucp_tag_expected_add(ucp_tag_match_t *tm, ucp_request_t *req);

/** Takes a posted receive out again. */
void ucp_tag_expected_remove(ucp_tag_match_t *tm, ucp_request_t *req);

/** The slow half of the search: some receives have open masks. */
ucp_request_t *ucp_tag_expected_match_wild(ucp_tag_match_t *tm, ucp_tag_t tag);

/** Takes out the oldest receive that fits, or NULL. Hot path. */
static UCS_F_ALWAYS_INLINE ucp_request_t *
ucp_tag_expected_match(ucp_tag_match_t *tm, ucp_tag_t tag)
{
    ucp_tag_receives_t *exact = &tm->expected.by_key[0];
    ucs_queue_head_t *bucket;
    ucs_queue_iter_t iter;
    ucp_request_t *req;

    if (ucs_unlikely(tm->expected.num_wild > 0)) {
        return ucp_tag_expected_match_wild(tm, tag);
    }

    bucket = &exact->buckets[ucp_tag_bucket(tag, exact->shift)];
    for (iter = ucs_queue_iter_begin(bucket);
         !ucs_queue_iter_end(bucket, iter);
         iter = ucs_queue_iter_next(iter)) {
        req = ucs_container_of(*iter, ucp_request_t, recv.queue);
        if (ucs_likely(req->recv.tag == tag)) {
            ucs_queue_del_iter(bucket, iter);
            --exact->count;
            req->flags &= ~UCP_REQUEST_FLAG_EXPECTED;
            return req;
        }
    }
    return NULL;
}

/** Keeps an early message: copies `size` bytes. NULL: out of memory. */
ucp_recv_desc_t *
ucp_tag_unexpected_add(ucp_tag_match_t *tm, ucp_recv_desc_kind_t kind,
                       ucp_tag_t tag, size_t length, const void *data,
                       size_t size, size_t header_size);

/** The oldest early message that fits, or NULL; it stays in the queue. */
ucp_recv_desc_t *ucp_tag_unexpected_find(ucp_tag_match_t *tm, ucp_tag_t tag,
                                         ucp_tag_t mask);

/** A list that has, linked by by_key[0], all early messages of this tag. */
static UCS_F_ALWAYS_INLINE ucs_list_link_t *
ucp_tag_unexpected_of(const ucp_tag_match_t *tm, ucp_tag_t tag)
{
    return &tm->unexpected.buckets[ucp_tag_bucket(tag, tm->unexpected.shift)];
}

void ucp_tag_unexpected_remove(ucp_tag_match_t *tm, ucp_recv_desc_t *desc);

/** Frees a message that was removed. */
void ucp_tag_unexpected_free(ucp_recv_desc_t *desc);

/** Any request that is posted, or NULL: for taking them all out, in time that
 *  grows with their number alone. */
ucp_request_t *ucp_tag_expected_any(ucp_tag_match_t *tm);

#endif
