/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hello: the private data that client and server send each other through a
 * connection manager. Any process that can reach the listener's port may send
 * such data, so it is checked. Sizes in bytes:
 *
 *   | magic 2 | version 1 | flags 1 | endpoint's id 8 | fields ... |
 *   field: | type 1 | length 2 | value |
 *
 *     ADDRESS     worker address, once
 *     CLIENT_ID   8 bytes, from clients that send their id
 *
 * Fields of unknown type are skipped: newer versions of the format only add
 * fields.
 */
#ifndef UCP_CM_HELLO_H
#define UCP_CM_HELLO_H

#include "ucp/base/types.h"

enum {
    UCP_CM_HELLO_ERR_MODE = UCS_BIT(0), /**< Error handling mode is PEER */
};

typedef struct ucp_cm_hello {
    uint64_t ep_id; /**< The sender's endpoint id, as in ucp_wire_end_t */
    uint8_t flags;  /**< UCP_CM_HELLO_* */
    uint8_t has_client_id;
    uint64_t client_id;
    const void *address; /**< Points into the packed bytes */
    size_t address_length;
} ucp_cm_hello_t;

/** Returns the maximum size in bytes of a packed hello without the address. */
size_t ucp_cm_hello_overhead(void);

/** Packs the hello to `dest`, which must have space for ucp_cm_hello_overhead()
 *  bytes and the address. Returns the number of bytes. */
size_t ucp_cm_hello_pack(const ucp_cm_hello_t *hello, void *dest);

/** Unpacks a hello from an untrusted source. Does not check the contents of the
 *  worker address. Returns UCS_ERR_INVALID_PARAM if the bytes are malformed. */
ucs_status_t ucp_cm_hello_unpack(const void *data, size_t length,
                                 ucp_cm_hello_t *hello);

#endif
