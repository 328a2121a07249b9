/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory handles as bytes for peers: remote keys, and exported handles. They
 * travel by the user's own means, so they are checked like anything foreign.
 *
 *   | magic 2 | version 1 | kind 1 | length 2 | its inverse 2 | checksum 4 |
 *   | fields ... |
 *   field: | type 1 | length 2 | value |
 *
 *   MEMORY  | id 8 | address 8 | length 8 | rights 2 | memory type 1 | flags 1 |
 *           further bytes are skipped |
 *   KEY     | domain 1 | n 1 | component | the component's packed key |
 *
 * Length, checksum and unknown fields are as in worker addresses. `domain` is
 * the owner's number of the domain: it tells two of one component apart.
 */
#ifndef UCP_MEM_PACKED_H
#define UCP_MEM_PACKED_H

#include "ucp/core/context.h"

enum {
    UCP_PACKED_RKEY     = 1,  /**< For ucp_ep_rkey_unpack */
    UCP_PACKED_EXPORTED = 2   /**< For ucp_mem_map */
};

/** A component's key; points into the packed bytes. */
typedef struct ucp_packed_key {
    char          component[UCT_COMPONENT_NAME_MAX];
    uint8_t       md_index;
    const uint8_t *bytes;
    size_t        length;
} ucp_packed_key_t;

typedef struct ucp_packed_mem {
    uint64_t          id;
    uint64_t          address;
    uint64_t          length;
    unsigned          prot;       /**< UCP_MEM_MAP_PROT_REMOTE_* */
    ucs_memory_type_t mem_type;
    int               by_owner;   /**< It carries out accesses by message */
    unsigned          num_keys;
    ucp_packed_key_t  keys[UCP_MAX_MDS];
} ucp_packed_mem_t;

/** Packs into memory that the caller frees. */
ucs_status_t ucp_packed_write(const ucp_packed_mem_t *mem, uint8_t kind,
                              void **buffer_p, size_t *length_p);

/** How long the bytes say that they are, or 0 if they are not of this kind. At
 *  least the header must be readable. */
size_t ucp_packed_length(const void *buffer, uint8_t kind);

/** Reads foreign bytes; UCS_ERR_INVALID_PARAM with a log line if they are no
 *  such thing. The result points into them. */
ucs_status_t ucp_packed_read(const void *buffer, size_t length, uint8_t kind,
                             ucp_packed_mem_t *mem);

#endif
