/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tag matching: posted receives that wait for a message, and unexpected
 * messages that wait for a receive. Both are hashed, so that the time of a
 * match usually does not grow with their number.
 *
 * There is one key for each kind of receive: the bits of the tag by which such
 * receives are hashed.
 *
 *   key                | receives whose mask covers it
 *   -------------------+-----------------------------------------------------
 *   all bits           | for one value of all bits
 *   tag_sender_mask    | for one sender, with any values of the other bits
 *   ~tag_sender_mask   | for any sender, with one value of the other bits
 *   none               | all others, in one list
 *
 * A receive is stored under the first key that its mask covers. Messages are
 * stored under every key but the last, and in a list of all messages. The
 * second and the third key exist only if the program sets
 * ucp_params_t::tag_sender_mask.
 *
 * Order: a message matches the receive that was posted first among those that
 * fit. A receive matches the message that arrived first among those that fit. A
 * sequence number of the post decides between receives under different keys.
 */
#ifndef UCP_TAG_MATCH_H
#define UCP_TAG_MATCH_H

#include <ucs/sys/compiler_def.h>

#include "ucp/base/worker.h"

#define UCP_TAG_MASK_FULL UINT64_MAX

/** Maximum number of keys by which receives and messages are hashed. */
enum {
    UCP_TAG_KEYS = 3,
};

/** Kind of an unexpected message. */
typedef enum {
    UCP_RECV_DESC_EAGER,
    UCP_RECV_DESC_EAGER_SYNC,
    UCP_RECV_DESC_RNDV,
    /** A message in fragments, perhaps incomplete. A pointer to
     *  ucp_tag_multi_t follows the ucp_recv_desc_t (tag/multi.h) */
    UCP_RECV_DESC_MULTI,
} ucp_recv_desc_kind_t;

/**
 * An unexpected message: also the message handle that ucp_tag_probe_nb returns.
 * The received bytes follow the structure.
 */
struct ucp_recv_desc {
    ucs_list_link_t by_order;             /**< In arrival order */
    ucs_list_link_t by_key[UCP_TAG_KEYS]; /**< In its bucket of each key */
    ucp_tag_t tag;
    size_t length;         /**< Length of the whole message */
    uint32_t size;         /**< Bytes stored after this structure */
    uint16_t header_size;  /**< How many of these bytes precede the payload */
    uint8_t kind;          /**< ucp_recv_desc_kind_t */
    uint8_t from_heap : 1; /**< From the heap, not the pool */
    uint8_t is_queued : 1; /**< In the queue of unexpected messages */
};
typedef struct ucp_recv_desc ucp_recv_desc_t;

struct ucp_tag_offload;

/** State of a posted receive. */
typedef struct ucp_tag_recv {
    uint64_t sn; /**< Sequence number of the post */
    ucp_tag_t tag;
    ucp_tag_t tag_mask;
} ucp_tag_recv_t;

UCP_AREA_ACCESSOR(ucp_recv_tag, ucp_request_t, recv.op, ucp_tag_recv_t)

/** Posted receives under one key. */
typedef struct ucp_tag_receives {
    ucs_queue_head_t *buckets; /**< Each in posting order */
    unsigned shift;            /**< 64 - log2(number of buckets) */
    size_t count;              /**< Number of receives under this key */
    /** The table grows when `count` reaches this */
    size_t limit;
    /** Index of the last bucket that ucp_tag_expected_any() found not empty */
    size_t scanned;
} ucp_tag_receives_t;

typedef struct ucp_tag_match {
    /* These members are first, so that a match reads only one cache line of
     * this structure: num_wild and the table of the first key. */
    struct {
        size_t num_wild; /**< Receives not under the first key */
        /** Sequence number of the next receive */
        uint64_t sn;
        ucp_tag_receives_t by_key[UCP_TAG_KEYS + 1];
    } expected;
    struct {
        ucs_list_link_t *buckets; /**< Of all keys, one key after another */
        unsigned shift;           /**< 64 - log2(number of buckets of a key) */
        size_t count;             /**< Number of messages */
        /** The tables grow when `count` reaches this */
        size_t limit;
        ucs_list_link_t all; /**< All messages in arrival order */
    } unexpected;
    /** Matching by a transport (offload.h); NULL if no transport supports it */
    struct ucp_tag_offload *offload;
    /** Bits of each key. keys[0] is all bits; the last key is followed by 0 */
    ucp_tag_t keys[UCP_TAG_KEYS + 1];
    unsigned num_keys;
    ucs_mpool_t descs;              /**< For small unexpected messages */
    struct ucs_stats_record *stats; /**< Counts unexpected messages; or NULL */
} ucp_tag_match_t;

UCP_AREA_ACCESSOR(ucp_worker_tag, struct ucp_worker, areas.tag, ucp_tag_match_t)

/** `sender_mask`: see ucp_params_t::tag_sender_mask. */
ucs_status_t ucp_tag_match_init(ucp_tag_match_t *tm, ucp_tag_t sender_mask);

/** Frees unexpected messages. The caller completes posted receives before. */
void ucp_tag_match_cleanup(ucp_tag_match_t *tm);

static UCS_F_ALWAYS_INLINE uint64_t ucp_tag_bucket(ucp_tag_t tag,
                                                   unsigned shift)
{
    return (tag * 0x9e3779b97f4a7c15ull) >> shift;
}

static UCS_F_ALWAYS_INLINE int ucp_tag_fits(ucp_tag_t tag, ucp_tag_t wanted,
                                            ucp_tag_t mask)
{
    return ((tag ^ wanted) & mask) == 0;
}

/** Adds a receive whose tag and mask are set. */
void ucp_tag_expected_add(ucp_tag_match_t *tm, ucp_request_t *req);

/** Adds a receive again, in the order of its sequence number. It was removed
 *  because a transport had matched it with a message that completes no
 *  receive. */
void ucp_tag_expected_restore(ucp_tag_match_t *tm, ucp_request_t *req);

/** Cancels, in the transport, a receive with UCP_REQUEST_FLAG_OFFLOADED
 *  (offload.h). */
void ucp_tag_offload_cancel(struct ucp_tag_offload *offload,
                            ucp_request_t *req);

/** Removes a posted receive. If the receive is also posted to a transport,
 *  cancels it there. */
void ucp_tag_expected_remove(ucp_tag_match_t *tm, ucp_request_t *req);

/** As ucp_tag_expected_match(). Also finds receives whose mask does not have
 *  all bits. */
ucp_request_t *ucp_tag_expected_match_wild(ucp_tag_match_t *tm, ucp_tag_t tag);

/** Removes the oldest posted receive that a message with this tag matches, and
 *  returns it; or NULL. Hot path. */
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
    for (iter = ucs_queue_iter_begin(bucket); !ucs_queue_iter_end(bucket, iter);
         iter = ucs_queue_iter_next(iter)) {
        req = ucs_container_of(*iter, ucp_request_t, recv.queue);
        if (ucs_likely(ucp_recv_tag(req)->tag == tag)) {
            ucs_queue_del_iter(bucket, iter);
            --exact->count;
            req->flags &= ~UCP_REQUEST_FLAG_EXPECTED;
            if (ucs_unlikely(req->flags & UCP_REQUEST_FLAG_OFFLOADED)) {
                ucp_tag_offload_cancel(tm->offload, req);
            }
            return req;
        }
    }
    return NULL;
}

/** Stores an unexpected message: copies `size` bytes of `data`, of which the
 *  first `header_size` precede the payload. `length`: bytes of data of the
 *  whole message. Returns NULL if out of memory. */
ucp_recv_desc_t *ucp_tag_unexpected_add(ucp_tag_match_t *tm,
                                        ucp_recv_desc_kind_t kind,
                                        ucp_tag_t tag, size_t length,
                                        const void *data, size_t size,
                                        size_t header_size);

/** Returns the oldest unexpected message that a receive with this tag and mask
 *  matches, or NULL. The message stays in the queue. */
ucp_recv_desc_t *ucp_tag_unexpected_find(ucp_tag_match_t *tm, ucp_tag_t tag,
                                         ucp_tag_t mask);

/** Returns the bucket of the first key (all bits) for this tag: it contains
 *  all unexpected messages of the tag, and perhaps others, linked by
 *  by_key[0]. */
static UCS_F_ALWAYS_INLINE ucs_list_link_t *
ucp_tag_unexpected_of(const ucp_tag_match_t *tm, ucp_tag_t tag)
{
    return &tm->unexpected.buckets[ucp_tag_bucket(tag, tm->unexpected.shift)];
}

void ucp_tag_unexpected_remove(ucp_tag_match_t *tm, ucp_recv_desc_t *desc);

/** Frees a message that was removed from the queue. */
void ucp_tag_unexpected_free(ucp_recv_desc_t *desc);

/** Returns any posted receive, or NULL. A loop that removes all receives in
 *  this way takes time proportional to their number. */
ucp_request_t *ucp_tag_expected_any(ucp_tag_match_t *tm);

#endif
