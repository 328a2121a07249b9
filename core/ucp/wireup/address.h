/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worker addresses: the bytes that a peer needs to connect to a worker. Users
 * pass them through files, sockets and databases, so all of their bytes are
 * checked. A number after a name, below, is a length in bytes.
 *
 *   | header of base/seal.h | compressed body (base/squeeze.h) |
 *   body:     | worker's UUID 8 | fields ... |
 *   field:    | type 1 | n 1 | n bytes |, or | type 1 | 255 | n 2 | n bytes |
 *
 *   HOST      4 bytes: number of the machine and namespaces of the worker
 *   NAME      text without a final zero; only with UCX_ADDRESS_DEBUG_INFO or
 *             UCX_STATS
 *   RESOURCE  | code of the transport's name 2 | n 1 | device address n |
 *             interface address |: one interface
 *   FAR_RESOURCE  | domain 1 | interface 1 | as RESOURCE |
 *
 * All types from 128 on are RESOURCE: bits 4-6 of the type are the index of the
 * memory domain in the context, bits 0-3 that of the interface in the worker.
 * FAR_RESOURCE is for an interface whose indices do not fit these bits. The
 * compression of the body may refer to 16 zero bytes before it.
 *
 * Fields of unknown type are skipped; a newer version only adds fields.
 * Transports repeat the host, process or network in their addresses;
 * compression removes the repetition. Two transports may have the same code:
 * both are tried, and both check the addresses.
 */
#ifndef UCP_ADDRESS_H
#define UCP_ADDRESS_H

#include "ucp/base/seal.h"
#include "ucp/base/squeeze.h"
#include "ucp/base/worker.h"

/** One interface of the peer. The pointers point into
 *  ucp_address_info_t::bytes. */
typedef struct ucp_address_entry {
    uint16_t tl_code; /**< ucp_address_tl_code() */
    const uint8_t *dev_addr;
    uint8_t dev_addr_length;
    const uint8_t *iface_addr;
    uint8_t iface_addr_length;
    /** Index of the interface's domain in the peer's context, which selects the
     *  key for this interface among the peer's packed keys; UCP_NULL_MD if
     *  unknown */
    uint8_t md_index;
    /** Index of the interface in the peer's worker; UCP_NULL_IFACE if
     *  unknown */
    uint8_t iface_index;
} ucp_address_entry_t;

enum { UCP_NULL_IFACE = 0xff };

typedef struct ucp_address_info {
    uint64_t uuid; /**< Identifies the peer's worker */
    uint32_t host; /**< Number of the peer's machine; 0 if unknown */
    /** The worker's name, or its UUID in hexadecimal if the address contains no
     *  name */
    char name[UCP_ENTITY_NAME_MAX];
    unsigned num_entries;
    ucp_address_entry_t entries[UCP_MAX_RESOURCES];
    /** The uncompressed address, into which the entries point */
    uint8_t bytes[UCP_SQUEEZE_MAX];
} ucp_address_info_t;

/** Returns the code by which addresses name a transport: a hash of its
 *  name. */
uint16_t ucp_address_tl_code(const char *tl_name);

/** Packs the worker's address into memory that the caller frees. `flags`:
 *  UCP_WORKER_ADDRESS_FLAG_*. */
ucs_status_t ucp_address_pack(ucp_worker_h worker, unsigned flags,
                              void **address_p, size_t *length_p);

/** As ucp_address_pack(), within `max_length` bytes: adds first the interfaces
 *  on the device `dev_name`, then the others, and leaves out those that do not
 *  fit. Other network devices are added only with UCX_CM_USE_ALL_DEVICES.
 *  Returns UCS_ERR_EXCEEDS_LIMIT, with a log line, if no interface fits. */
ucs_status_t ucp_address_pack_near(ucp_worker_h worker, const char *dev_name,
                                   size_t max_length, void **address_p,
                                   size_t *length_p);

/** Returns the length in bytes of a packed address, from its header; 0 if the
 *  bytes are not an address. At least four bytes must be readable. */
static inline size_t ucp_address_length(const void *address)
{
    return ucp_seal_length(address, UCP_SEAL_ADDRESS);
}

/** Returns non-zero if the worker with this address runs on this machine and in
 *  the same namespaces as this process. Used for costs, thresholds and the
 *  number of lanes; whether a transport reaches the worker does not depend on
 *  it. */
int ucp_address_is_local(const ucp_address_info_t *info);

/** Unpacks bytes from an untrusted source. Returns UCS_ERR_INVALID_ADDR, with a
 *  log line, if they are not an address. `length`: bytes that are readable. */
ucs_status_t ucp_address_unpack(const void *address, size_t length,
                                ucp_address_info_t *info);

#endif
