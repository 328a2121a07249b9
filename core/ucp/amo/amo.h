/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic operations on a peer's memory. If a lane supports the operation, the
 * lane carries it out. Otherwise an active message requests it, and the peer
 * executes it by atomic instructions of its processor. Operations of the two
 * kinds are atomic with each other only if the lane uses atomic instructions of
 * the processor too, as in shared memory. Messages, with sizes in bytes:
 *
 *   ATOMIC       | key 8 | address 8 | operand 8 | swap 8 | sender's end 16 |
 *                | request 4 | operation 1 | size 1 |
 *   ATOMIC_REPLY | request 4 | status 1 | secret 3 | old value 8 |
 *
 * `request`: the id of the sender's request, which the reply repeats. 0: an
 * operation without result, which gets no reply. If it fails, the next flush of
 * the sender returns the error, as for a put. `secret`: a part of the id of the
 * sender's endpoint that other processes cannot guess, so that they cannot
 * forge a reply.
 *
 * A sender's end is a ucp_wire_end_t: the UUID of its worker and the id of its
 * endpoint.
 */
#ifndef UCP_AMO_H
#define UCP_AMO_H

#include "ucp/rma/rkey.h"

/** Identifiers of messages. */
enum {
    UCP_AM_ID_ATOMIC       = 17, /**< Requests an operation on the receiver's
                                  *   memory */
    UCP_AM_ID_ATOMIC_REPLY = 18, /**< The value before the operation, or an
                                  *   error */
};

/** Values of ucp_amo_t::op; part of the wire format. */
enum {
    UCP_AMO_WIRE_ADD   = 0,
    UCP_AMO_WIRE_SWAP  = 1,
    UCP_AMO_WIRE_CSWAP = 2,
    UCP_AMO_WIRE_AND   = 3,
    UCP_AMO_WIRE_OR    = 4,
    UCP_AMO_WIRE_XOR   = 5,
};

typedef struct {
    ucp_le64_t key;
    ucp_le64_t address;
    ucp_le64_t operand;
    ucp_le64_t swap;
    ucp_wire_end_t sender;
    ucp_le32_t request;
    uint8_t op;
    uint8_t size; /**< 4 or 8 */
} ucp_amo_t;

typedef struct {
    ucp_le32_t request;
    int8_t status;
    ucp_rma_secret_t secret;
    ucp_le64_t old;
} ucp_amo_reply_t;

_Static_assert(sizeof(ucp_amo_t) == 54, "wire layout");
_Static_assert(sizeof(ucp_amo_reply_t) == 16, "wire layout");

/** The operands and the result of an operation; ucp_rma_op_t (rma/rma.h) has
 *  the rest, for example the address. */
typedef struct ucp_amo_data {
    uint64_t operand;
    void *result; /**< NULL if there is no result */
    /** If the processor cannot access the user's memory, the result is stored
     *  here first: `result` points to this member, and ucp_amo_end() copies the
     *  value to the user's memory */
    uint64_t staged;
    uint8_t op, size; /**< UCP_ATOMIC_OP_*; 4 or 8 bytes */
} ucp_amo_data_t;

UCP_AREA_ACCESSOR(ucp_send_amo, ucp_request_t, send.data, ucp_amo_data_t)

/** Executes an operation UCP_AMO_WIRE_* by atomic instructions of this
 *  processor. `word` is aligned to `size`, 4 or 8. A CSWAP compares with
 *  `operand` and writes `swap`. Returns the old value. */
uint64_t ucp_amo_by_cpu(unsigned op, unsigned size, void *word,
                        uint64_t operand, uint64_t swap);

/** Load and store a value of `size` bytes, 4 or 8, with any alignment. */
static inline uint64_t ucp_amo_load(const void *p, unsigned size)
{
    uint32_t word;
    uint64_t value;

    if (size == sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        return word;
    }
    memcpy(&value, p, sizeof(value));
    return value;
}

static inline void ucp_amo_store(void *p, unsigned size, uint64_t value)
{
    uint32_t word = (uint32_t)value;

    if (size == sizeof(word)) {
        memcpy(p, &word, sizeof(word));
    } else {
        memcpy(p, &value, sizeof(value));
    }
}

/** Completes the request. If `status` is UCS_OK, the caller has stored the
 *  result in ucp_amo_data_t::result. If the processor cannot access the user's
 *  memory, this function copies the result there. */
void ucp_amo_end(ucp_request_t *req, ucs_status_t status);

/** True if the atomic lane of the query's key supports the query's operation,
 *  size and kind (with or without result). */
int ucp_amo_lane_can(const ucp_proto_query_t *query);

/** ucp_proto_t::is_immediate of both protocols: true if the operation has no
 *  result. Such an operation is complete for the user when it is sent. */
int ucp_amo_is_immediate(const ucp_request_t *req);

/** The protocols: over the lane that is selected for the key, and by
 *  message. */
extern const ucp_proto_t ucp_proto_amo_lane;
extern const ucp_proto_t ucp_proto_amo_am;

/** UCT callbacks for received messages; `arg` is the worker. */
ucs_status_t ucp_amo_handler(void *arg, void *data, size_t length,
                             unsigned flags);
ucs_status_t ucp_amo_reply_handler(void *arg, void *data, size_t length,
                                   unsigned flags);

#endif
