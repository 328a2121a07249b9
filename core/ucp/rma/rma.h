/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access to a peer's memory by put and get: messages, and the state in workers,
 * endpoints and requests, also that of atomics. rkey.h has remote keys. A lane
 * (one transport endpoint of a UCP endpoint) that supports the access for this
 * key carries it out without the peer's progress. If there is no such lane, or
 * if messages cost less, an active message requests the access and the peer
 * executes it in its progress ("emulated"). A number after a name is a length
 * in bytes.
 *
 *   PUT       | key 8 | address 8 | sender's end 16 | data |
 *   GET       | key 8 | address 8 | length 8 | sender's end 16 | request 4 |
 *   GET_REPLY | request 4 | status 1 | secret 3 | data, in order |
 *   ACK       | initiator's endpoint 8 | count 4 | status 1 |
 *
 * `key` is the id of the peer's memory handle. The peer checks each access
 * against its current handles; an access outside them changes nothing. The
 * reply to a get contains the error. A put has already completed at the
 * initiator: its error is sent in an ACK, and the next flush returns it.
 * `request` is the id of the initiator's request. `count` is the number of
 * accesses of this endpoint that were carried out or rejected (ack.h).
 *
 * The secret is the random part of the initiator's endpoint id
 * (ucp_ep::secret), which only its peer knows. A GET_REPLY contains 24 bits of
 * it and an ACK all of it. The initiator drops them if the secret is wrong.
 *
 * A sender's end is a ucp_wire_end_t: the UUID of its worker and the id of its
 * endpoint.
 */
#ifndef UCP_RMA_H
#define UCP_RMA_H

#include "ucp/mem/mem.h"
#include "ucp/proto/ep.h"
#include "ucp/proto/memhs.h"

/** Identifiers of messages. */
enum {
    UCP_AM_ID_PUT       = 14, /**< Data for registered memory */
    UCP_AM_ID_GET       = 15, /**< Requests data of registered memory */
    UCP_AM_ID_GET_REPLY = 16, /**< The data for a GET */
    /** The number of completed accesses, also of atomics */
    UCP_AM_ID_RMA_ACK   = 19,
};

/** 24 bits of the secret of an endpoint. */
typedef struct {
    uint8_t bytes[3];
} ucp_rma_secret_t;

typedef struct {
    ucp_le64_t key;
    ucp_le64_t address;
    ucp_wire_end_t sender;
} ucp_rma_put_t;

typedef struct {
    ucp_le64_t key;
    ucp_le64_t address;
    ucp_le64_t length;
    ucp_wire_end_t sender;
    ucp_le32_t request;
} ucp_rma_get_t;

typedef struct {
    ucp_le32_t request;
    int8_t status;
    ucp_rma_secret_t secret;
} ucp_rma_get_reply_t;

typedef struct {
    ucp_le64_t end;   /**< The initiator's endpoint: ep_id of its
                       *   ucp_wire_end_t */
    ucp_le32_t count; /**< Accesses carried out or rejected since the endpoint
                       *   exists, modulo 2^32 */
    int8_t status;
} ucp_rma_ack_t;

_Static_assert(sizeof(ucp_rma_put_t) == 32, "wire layout");
_Static_assert(sizeof(ucp_rma_get_t) == 44, "wire layout");
_Static_assert(sizeof(ucp_rma_get_reply_t) == 8, "wire layout");
_Static_assert(sizeof(ucp_rma_ack_t) == 13, "wire layout");

/** State of a worker for accesses to the memory of peers and by peers. */
typedef struct ucp_rma_worker {
    struct ucp_rma_config *configs; /**< List of configurations (rkey.h) */
    ucs_list_link_t shared_keys;    /**< Shared keys of symmetric memory
                                     *   (symmetric.h) */
    /** First endpoint that sends an ACK at the end of this call of
     *  ucp_worker_progress(); linked by ucp_rma_ep_t::ack_next */
    ucp_ep_h unacked;
    /** Id of the progress callback that sends these ACKs; UCS_CALLBACKQ_ID_NULL
     *  if it is not registered */
    int unacked_cb;
} ucp_rma_worker_t;

UCP_AREA_ACCESSOR(ucp_worker_rma, struct ucp_worker, areas.rma,
                  ucp_rma_worker_t)

/** The target's counts of the emulated accesses that the peer of an endpoint
 *  has requested; see ack.h. */
typedef struct ucp_rma_ep {
    ucp_ep_h ack_next; /**< Next in ucp_rma_worker_t::unacked; used while
                        *   `owes` is set */
    uint32_t handled;  /**< Accesses carried out or rejected */
    uint32_t acked;    /**< Value of `handled` in the last acknowledgement */
} ucp_rma_ep_t;

UCP_AREA_ACCESSOR(ucp_ep_rma, struct ucp_ep, areas.rma, ucp_rma_ep_t)

typedef struct ucp_rma_ep_bits {
    /** The endpoint is in ucp_rma_worker_t::unacked */
    uint8_t owes : 1;
    uint8_t acking : 1; /**< An ACK waits for send resources */
    int8_t status;      /**< Error of an access, which the next ACK reports;
                         *   UCS_OK: none */
} ucp_rma_ep_bits_t;

UCP_AREA_ACCESSOR(ucp_ep_rma_bits, struct ucp_ep, bits.rma, ucp_rma_ep_bits_t)

/** State of a put, a get, an atomic, or a reply to the peer's get: the area
 *  `op` of its request. */
typedef struct ucp_rma_op {
    uint64_t address; /**< Start of the accessed memory, at its owner */
    ucp_rkey_h rkey;  /**< NULL for a reply to the peer's get */
    const struct ucp_rma_config *config; /**< Lanes and protocols */
    uint64_t key; /**< Id of the accessed memory's handle, at its owner */
    /** Reply: id of the peer's request */
    uint32_t remote_id;
    uint32_t secret; /**< Reply: secret of the peer's endpoint */
    /** Emulated get or atomic: value of ep->rma_issued after it was sent */
    uint32_t number;
    uint8_t posted;    /**< All is sent or posted: a completion is awaited */
    uint8_t own_memhs; /**< ucp_rma_data_t::memhs must be deregistered */
    /** Number of restarts after failures of lanes */
    uint8_t retries;
    uint8_t retrying; /**< The next progress restarts the request */
} ucp_rma_op_t;

/** State of the data transfer of a put or get: the area `data` of its
 *  request. */
typedef struct ucp_rma_data {
    size_t received;          /**< Emulated get: bytes received so far */
    const ucp_rails_t *rails; /**< Lanes of a zero-copy transfer */
    ucp_memhs_t memhs;        /**< Registrations of the local buffer */
    /** Reply by zero-copy: memory handle that is referenced while the transport
     *  reads its memory; NULL if none */
    ucp_mem_h lent;
} ucp_rma_data_t;

UCP_AREA_ACCESSOR(ucp_send_rma, ucp_request_t, send.op, ucp_rma_op_t)
UCP_AREA_ACCESSOR(ucp_send_rma_data, ucp_request_t, send.data, ucp_rma_data_t)

static inline ucp_rma_secret_t ucp_rma_secret(uint32_t secret)
{
    return (ucp_rma_secret_t){
        {(uint8_t)secret, (uint8_t)(secret >> 8), (uint8_t)(secret >> 16)}};
}

/** True if the secret in a reply is that of the endpoint, so that the reply is
 *  for a request of this endpoint. */
static inline int ucp_rma_is_secret_of(ucp_ep_h ep, ucp_rma_secret_t secret)
{
    ucp_rma_secret_t ours = ucp_rma_secret(ep->secret);

    return memcmp(&ours, &secret, sizeof(ours)) == 0;
}

/** Converts the status from a peer: an unknown value is an I/O error. */
static inline ucs_status_t ucp_rma_wire_status(int8_t status)
{
    return ((status > 0) || (status <= UCS_ERR_LAST)) ? UCS_ERR_IO_ERROR :
                                                        (ucs_status_t)status;
}

/** Flags of an endpoint that exclude the fast path of put and get. */
#define UCP_RMA_EP_FLAGS_SLOW (UCP_EP_FLAGS_SLOW | UCP_EP_FLAG_ORDERED)

/** Completes a put, get or atomic with `status`, in any state in which the
 *  transport does not use its memory. */
void ucp_rma_abort(ucp_request_t *req, ucs_status_t status);

/** Returns the bytes of data in each message of an emulated put of `length`
 *  bytes if the messages are sent zero-copy; 0 if the data is copied to the
 *  transport's buffers. */
size_t ucp_rma_put_fragment(const ucp_ep_config_t *config, unsigned dt_class,
                            size_t length);

/** As ucp_rma_put_fragment(), for the reply to a get. */
size_t ucp_rma_reply_fragment(const ucp_ep_config_t *config, size_t length);

/** Sends an emulated put of at most UCP_RMA_AM_SHORT_MAX bytes without a
 *  request; returns the result of am_short. `key`: id of the owner's memory
 *  handle. Hot path. */
ucs_status_t ucp_rma_am_put_short(ucp_ep_h ep, const void *buffer,
                                  size_t length, uint64_t remote_addr,
                                  uint64_t key);

/** Maximum bytes of data of ucp_rma_am_put_short(). */
enum { UCP_RMA_AM_SHORT_MAX = 256 };

/** UCT callbacks for received messages; `arg` is the worker. */
ucs_status_t ucp_rma_put_handler(void *arg, void *data, size_t length,
                                 unsigned flags);
ucs_status_t ucp_rma_get_handler(void *arg, void *data, size_t length,
                                 unsigned flags);
ucs_status_t ucp_rma_get_reply_handler(void *arg, void *data, size_t length,
                                       unsigned flags);
ucs_status_t ucp_rma_ack_handler(void *arg, void *data, size_t length,
                                 unsigned flags);

#endif
