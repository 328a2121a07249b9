/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worker addresses: the bytes by which one worker tells others how to reach
 * it. They travel through files, sockets and databases, so they are checked
 * like anything foreign.
 *
 *   | header of core/seal.h | the rest, squeezed (core/squeeze.h) behind 16 zeros |
 *   the rest: | worker's number 8 | fields ... |
 *   field:    | type 1 | n 1 | n bytes |, or | type 1 | 255 | n 2 | n bytes |
 *
 *   HOST      number of the machine and namespaces that the worker runs in 4
 *   NAME      text without a zero; only if it was asked for
 *   RESOURCE  | code of the transport's name 2 | n 1 | device address | interface
 *             address |, of domain 0 and interface 0
 *   FAR_RESOURCE  | domain 1 | interface 1 | as RESOURCE |
 *
 * Types from 128 on are RESOURCE, of the domain in bits 4-6 and the interface in
 * bits 0-3.
 *
 * Fields of unknown type are skipped; a newer version adds fields only. Transports
 * that name the same host, process or network repeat each other; the compression
 * leaves that out. Two transports may have the same code: both are tried, and
 * check the addresses.
 */
#ifndef UCP_ADDRESS_H
#define UCP_ADDRESS_H

#include "ucp/core/seal.h"
#include "ucp/core/squeeze.h"
#include "ucp/core/worker.h"

/** One interface of the peer's; points into the address's info. */
typedef struct ucp_address_entry {
    uint16_t      tl_code;    /**< ucp_address_tl_code() */
    const uint8_t *dev_addr;
    uint8_t       dev_addr_length;
    const uint8_t *iface_addr;
    uint8_t       iface_addr_length;
    uint8_t       md_index;   /**< Of the peer's; keys are told apart by it.
                                   UCP_NULL_MD: not said */
    uint8_t       iface_index; /**< Of the peer's worker; UCP_NULL_IFACE: not
                                    said */
} ucp_address_entry_t;

enum { UCP_NULL_IFACE = 0xff };

typedef struct ucp_address_info {
    uint64_t            uuid;
    uint32_t            host;    /**< 0: not said */
    char                name[UCP_ENTITY_NAME_MAX]; /**< The number in words if
                                                        no name is told */
    unsigned            num_entries;
    ucp_address_entry_t entries[UCP_MAX_RESOURCES];
    uint8_t             bytes[UCP_SQUEEZE_MAX]; /**< Not squeezed; what entries
                                                     point to */
} ucp_address_info_t;

/** The code of a transport's name in addresses. */
uint16_t ucp_address_tl_code(const char *tl_name);

/** Packs the worker's address into memory that the caller frees. `flags`:
 *  UCP_WORKER_ADDRESS_FLAG_*. */
ucs_status_t ucp_address_pack(ucp_worker_h worker, unsigned flags,
                              void **address_p, size_t *length_p);

/** Likewise what fits into `max_length` bytes: first the interfaces on the
 *  device by which the peer is being met, then the others.
 *  UCS_ERR_EXCEEDS_LIMIT, with a log line, if not one fits. */
ucs_status_t ucp_address_pack_near(ucp_worker_h worker, const char *dev_name,
                                   size_t max_length, void **address_p,
                                   size_t *length_p);

/** How long the packed address says that it is, or 0 if it is none. At least
 *  four bytes must be readable. */
static inline size_t ucp_address_length(const void *address)
{
    return ucp_seal_length(address, UCP_SEAL_ADDRESS);
}

/** Does that worker share this machine with us, and its network? What goes over
 *  network devices between the two is the processor's work then. Who can be
 *  reached does not depend on it. */
int ucp_address_is_local(const ucp_address_info_t *info);

/** Unpacks foreign bytes; UCS_ERR_INVALID_ADDR with a log line if they are no
 *  address. `length`: how many are readable. */
ucs_status_t ucp_address_unpack(const void *address, size_t length,
                                ucp_address_info_t *info);

#endif
