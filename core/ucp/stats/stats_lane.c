/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of lanes. If counting is on, a lane gets a copy of the transport's
 * table of operations. In the copy, the functions for active messages, put,
 * get, atomics and `pending_add` are replaced by functions that call the
 * transport's function and count the result; `destroy` is replaced by one that
 * restores the transport's table.
 *
 *   uct_ep.ops --> | counting_t: the table    | real | records |
 *                      am_short, ... replaced |
 *                      all others copied      +--> the transport's table
 */
#include "ucp/stats/stats.h"

#include "ucp/proto/ep.h"

#include <stdlib.h>

/* The table of operations of a lane that counts. */
typedef struct {
    ucx_ep_ops_t ops;         /* Must be first: uct_ep.ops points to it */
    const ucx_ep_ops_t *real; /* The transport's table */
    const ucp_class_message_t *const *messages; /* By id */
    ucs_stats_record_t *lane;                   /* Record of the lane */
    ucs_stats_record_t *ep;                     /* Record of the endpoint */
} counting_t;

enum { SHORT, BCOPY, ZCOPY }; /* Index of ucp_class_sent_t::by */

/* Returns the counting table of a lane. The functions in the table call this
 * function before the transport's function, because the transport's function
 * may destroy `uct`. The table exists until the UCP endpoint is freed. */
static UCS_F_ALWAYS_INLINE const counting_t *counting_of(uct_ep_h uct)
{
    return (const counting_t *)uct->ops; /* `ops` is the first member of
                                          * counting_t */
}

static UCS_F_NOINLINE void count_failure(const counting_t *self, int status)
{
    if (status == UCS_ERR_NO_RESOURCE) {
        ucs_stats_add(self->lane, UCP_STATS_LANE_NO_RESOURCE, 1);
    } else if (status != UCS_ERR_UNSUPPORTED) {
        ucs_stats_add(self->lane, UCP_STATS_LANE_ERRORS, 1);
    }
}

static UCS_F_ALWAYS_INLINE int was_taken(ucs_status_t status)
{
    return (status == UCS_OK) || (status == UCS_INPROGRESS);
}

/* Counts an operation of the lane that transfers bytes. Returns non-zero if the
 * operation was accepted. */
static UCS_F_ALWAYS_INLINE int count_bytes(const counting_t *self,
                                           ucs_status_t status,
                                           unsigned counter, size_t length)
{
    if (ucs_unlikely(!was_taken(status))) {
        count_failure(self, status);
        return 0;
    }
    ucs_stats_add_message(self->lane, counter, length);
    return 1;
}

/* Counts a message for the endpoint, after the lane has accepted it. */
static UCS_F_ALWAYS_INLINE void
count_message(const counting_t *self, uint8_t id, unsigned how, size_t length)
{
    const ucp_class_message_t *message = self->messages[id];
    unsigned counter;

    if (ucs_unlikely((message == NULL) || (message->sent == NULL))) {
        ucs_stats_add_message(self->ep, UCP_STATS_OWN, length);
        return;
    }
    counter = message->sent->by[how];
    if (counter != UCP_CLASS_COUNTED) {
        ucs_stats_add_message(self->ep, counter,
                              (length > message->header) ?
                                  length - message->header :
                                  0);
    }
    if (message->sent->event != 0) {
        ucs_stats_add(self->ep, message->sent->event, 1);
    }
}

static size_t iov_length(const uct_iov_t *iov, size_t count)
{
    size_t length = 0;
    size_t i;

    for (i = 0; i < count; ++i) {
        length += iov[i].length * iov[i].count;
    }
    return length;
}

/* ------------------------------------------------------- active messages -- */

static ucs_status_t am_short(uct_ep_h uct, uint8_t id, uint64_t header,
                             const void *payload, unsigned length)
{
    const counting_t *self = counting_of(uct);
    ucs_status_t status    = self->real->am_short(uct, id, header, payload,
                                                  length);

    if (count_bytes(self, status, UCP_STATS_LANE_AM_SHORT,
                    sizeof(header) + length)) {
        count_message(self, id, SHORT, sizeof(header) + length);
    }
    return status;
}

static ucs_status_t am_short_iov(uct_ep_h uct, uint8_t id, const uct_iov_t *iov,
                                 size_t iovcnt)
{
    const counting_t *self = counting_of(uct);
    size_t length          = iov_length(iov, iovcnt);
    ucs_status_t status    = self->real->am_short_iov(uct, id, iov, iovcnt);

    if (count_bytes(self, status, UCP_STATS_LANE_AM_SHORT, length)) {
        count_message(self, id, SHORT, length);
    }
    return status;
}

static ssize_t am_bcopy(uct_ep_h uct, uint8_t id, uct_pack_callback_t pack_cb,
                        void *arg, unsigned flags)
{
    const counting_t *self = counting_of(uct);
    ssize_t packed         = self->real->am_bcopy(uct, id, pack_cb, arg, flags);

    if (ucs_unlikely(packed < 0)) {
        count_failure(self, (int)packed);
    } else {
        ucs_stats_add_message(self->lane, UCP_STATS_LANE_AM_BCOPY,
                              (size_t)packed);
        count_message(self, id, BCOPY, (size_t)packed);
    }
    return packed;
}

static ucs_status_t am_zcopy(uct_ep_h uct, uint8_t id, const void *header,
                             unsigned header_length, const uct_iov_t *iov,
                             size_t iovcnt, unsigned flags,
                             uct_completion_t *comp)
{
    const counting_t *self = counting_of(uct);
    size_t length          = header_length + iov_length(iov, iovcnt);
    ucs_status_t status = self->real->am_zcopy(uct, id, header, header_length,
                                               iov, iovcnt, flags, comp);

    if (count_bytes(self, status, UCP_STATS_LANE_AM_ZCOPY, length)) {
        count_message(self, id, ZCOPY, length);
    }
    return status;
}

/* --------------------------------------------------------- remote memory -- */

/* Short puts and gets may have been sent without a request. So they are
 * counted for the endpoint here, and not where the operation starts. */
static ucs_status_t put_short(uct_ep_h uct, const void *buffer, unsigned length,
                              uint64_t remote_addr, uct_rkey_t rkey)
{
    const counting_t *self = counting_of(uct);
    ucs_status_t status    = self->real->put_short(uct, buffer, length,
                                                   remote_addr, rkey);

    if (count_bytes(self, status, UCP_STATS_LANE_PUT_SHORT, length)) {
        ucs_stats_add_message(self->ep, UCP_STATS_PUT_SHORT, length);
    }
    return status;
}

static ssize_t put_bcopy(uct_ep_h uct, uct_pack_callback_t pack_cb, void *arg,
                         uint64_t remote_addr, uct_rkey_t rkey)
{
    const counting_t *self = counting_of(uct);
    ssize_t packed = self->real->put_bcopy(uct, pack_cb, arg, remote_addr,
                                           rkey);

    if (ucs_unlikely(packed < 0)) {
        count_failure(self, (int)packed);
    } else {
        ucs_stats_add_message(self->lane, UCP_STATS_LANE_PUT_BCOPY,
                              (size_t)packed);
    }
    return packed;
}

static ucs_status_t put_zcopy(uct_ep_h uct, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    const counting_t *self = counting_of(uct);
    size_t length          = iov_length(iov, iovcnt);
    ucs_status_t status = self->real->put_zcopy(uct, iov, iovcnt, remote_addr,
                                                rkey, comp);

    count_bytes(self, status, UCP_STATS_LANE_PUT_ZCOPY, length);
    return status;
}

static ucs_status_t get_short(uct_ep_h uct, void *buffer, unsigned length,
                              uint64_t remote_addr, uct_rkey_t rkey)
{
    const counting_t *self = counting_of(uct);
    ucs_status_t status    = self->real->get_short(uct, buffer, length,
                                                   remote_addr, rkey);

    if (count_bytes(self, status, UCP_STATS_LANE_GET_SHORT, length)) {
        ucs_stats_add_message(self->ep, UCP_STATS_GET_SHORT, length);
    }
    return status;
}

static ucs_status_t get_bcopy(uct_ep_h uct, uct_unpack_callback_t unpack_cb,
                              void *arg, size_t length, uint64_t remote_addr,
                              uct_rkey_t rkey, uct_completion_t *comp)
{
    const counting_t *self = counting_of(uct);
    ucs_status_t status    = self->real->get_bcopy(uct, unpack_cb, arg, length,
                                                   remote_addr, rkey, comp);

    count_bytes(self, status, UCP_STATS_LANE_GET_BCOPY, length);
    return status;
}

static ucs_status_t get_zcopy(uct_ep_h uct, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    const counting_t *self = counting_of(uct);
    size_t length          = iov_length(iov, iovcnt);
    ucs_status_t status = self->real->get_zcopy(uct, iov, iovcnt, remote_addr,
                                                rkey, comp);

    count_bytes(self, status, UCP_STATS_LANE_GET_ZCOPY, length);
    return status;
}

/* --------------------------------------------------------------- atomics -- */

static ucs_status_t count_atomic(const counting_t *self, ucs_status_t status)
{
    if (was_taken(status)) {
        ucs_stats_add(self->lane, UCP_STATS_LANE_ATOMIC, 1);
        ucs_stats_add(self->ep, UCP_STATS_ATOMIC_DIRECT, 1);
    } else {
        count_failure(self, status);
    }
    return status;
}

static ucs_status_t atomic32_post(uct_ep_h uct, uct_atomic_op_t op,
                                  uint32_t value, uint64_t remote_addr,
                                  uct_rkey_t rkey)
{
    const counting_t *self = counting_of(uct);

    return count_atomic(self, self->real->atomic32_post(uct, op, value,
                                                        remote_addr, rkey));
}

static ucs_status_t atomic64_post(uct_ep_h uct, uct_atomic_op_t op,
                                  uint64_t value, uint64_t remote_addr,
                                  uct_rkey_t rkey)
{
    const counting_t *self = counting_of(uct);

    return count_atomic(self, self->real->atomic64_post(uct, op, value,
                                                        remote_addr, rkey));
}

static ucs_status_t atomic32_fetch(uct_ep_h uct, uct_atomic_op_t op,
                                   uint32_t value, uint32_t *result,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uct_completion_t *comp)
{
    const counting_t *self = counting_of(uct);

    return count_atomic(self,
                        self->real->atomic32_fetch(uct, op, value, result,
                                                   remote_addr, rkey, comp));
}

static ucs_status_t atomic64_fetch(uct_ep_h uct, uct_atomic_op_t op,
                                   uint64_t value, uint64_t *result,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uct_completion_t *comp)
{
    const counting_t *self = counting_of(uct);

    return count_atomic(self,
                        self->real->atomic64_fetch(uct, op, value, result,
                                                   remote_addr, rkey, comp));
}

static ucs_status_t atomic_cswap32(uct_ep_h uct, uint32_t compare,
                                   uint32_t swap, uint64_t remote_addr,
                                   uct_rkey_t rkey, uint32_t *result,
                                   uct_completion_t *comp)
{
    const counting_t *self = counting_of(uct);

    return count_atomic(self, self->real->atomic_cswap32(uct, compare, swap,
                                                         remote_addr, rkey,
                                                         result, comp));
}

static ucs_status_t atomic_cswap64(uct_ep_h uct, uint64_t compare,
                                   uint64_t swap, uint64_t remote_addr,
                                   uct_rkey_t rkey, uint64_t *result,
                                   uct_completion_t *comp)
{
    const counting_t *self = counting_of(uct);

    return count_atomic(self, self->real->atomic_cswap64(uct, compare, swap,
                                                         remote_addr, rkey,
                                                         result, comp));
}

/* ---------------------------------------------- send resources and end -- */

static ucs_status_t pending_add(uct_ep_h uct, uct_pending_req_t *req,
                                unsigned flags)
{
    const counting_t *self = counting_of(uct);
    ucs_status_t status    = self->real->pending_add(uct, req, flags);

    if (status == UCS_OK) {
        ucs_stats_add(self->lane, UCP_STATS_LANE_WAITS, 1);
    }
    return status;
}

/* Restores the transport's table: the transport may keep the endpoint's
 * memory longer than this table exists. */
static void destroy(uct_ep_h uct)
{
    uct->ops = counting_of(uct)->real;
    uct->ops->destroy(uct);
}

void *ucp_stats_lane_attach(uct_ep_h uct,
                            const ucp_class_message_t *const *messages,
                            ucs_stats_record_t *lane, ucs_stats_record_t *ep)
{
    counting_t *self = malloc(sizeof(*self));

    if (self == NULL) {
        return NULL;
    }

    self->real               = uct->ops;
    self->messages           = messages;
    self->lane               = lane;
    self->ep                 = ep;
    self->ops                = *uct->ops;
    self->ops.am_short       = am_short;
    self->ops.am_short_iov   = am_short_iov;
    self->ops.am_bcopy       = am_bcopy;
    self->ops.am_zcopy       = am_zcopy;
    self->ops.put_short      = put_short;
    self->ops.put_bcopy      = put_bcopy;
    self->ops.put_zcopy      = put_zcopy;
    self->ops.get_short      = get_short;
    self->ops.get_bcopy      = get_bcopy;
    self->ops.get_zcopy      = get_zcopy;
    self->ops.atomic32_post  = atomic32_post;
    self->ops.atomic64_post  = atomic64_post;
    self->ops.atomic32_fetch = atomic32_fetch;
    self->ops.atomic64_fetch = atomic64_fetch;
    self->ops.atomic_cswap32 = atomic_cswap32;
    self->ops.atomic_cswap64 = atomic_cswap64;
    self->ops.pending_add    = pending_add;
    self->ops.destroy        = destroy;
    uct->ops                 = &self->ops;
    return self;
}
