/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worker addresses: the bytes by which one worker tells others how to reach
 * it. They travel through files, sockets and databases, so they are checked
 * like anything foreign.
 *
 *   | magic 2 | version 1 | flags 1 | length 2 | its inverse 2 | checksum 4 |
 *   | fields ... |
 *   field: | type 1 | length 2 | value |
 *
 *   UUID      worker's number 8
 *   NAME      text without a zero
 *   HOST      the number of machine and namespaces that the worker runs in 8
 *   RESOURCE  | n 1 | transport | n 1 | device address | n 1 | interface
 *             address | memory domain 1 | interface 1 | further bytes are
 *             skipped |
 *
 * `length` counts everything, and is there twice since nothing tells how many
 * bytes may be read before it is known to be right; fields of unknown type are
 * skipped; a newer version adds fields only. The checksum covers all the rest.
 */
#ifndef UCP_ADDRESS_H
#define UCP_ADDRESS_H

#include "ucp/core/worker.h"

/** One interface of the peer's; points into the packed bytes. */
typedef struct ucp_address_entry {
    char          tl_name[UCT_TL_NAME_MAX];
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
    uint64_t            host;    /**< 0: not said */
    char                name[UCP_ENTITY_NAME_MAX];
    unsigned            num_entries;
    ucp_address_entry_t entries[UCP_MAX_RESOURCES];
} ucp_address_info_t;

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
 *  the header must be readable. */
size_t ucp_address_length(const void *address);

/** Does that worker share this machine with us, and its network? What goes over
 *  network devices between the two is the processor's work then. */
int ucp_address_is_local(const ucp_address_info_t *info);

/** Unpacks foreign bytes; UCS_ERR_INVALID_ADDR with a log line if they are no
 *  address. `length`: how many are readable. */
ucs_status_t ucp_address_unpack(const void *address, size_t length,
                                ucp_address_info_t *info);

#endif
