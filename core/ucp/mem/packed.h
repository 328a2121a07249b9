/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packed form of a memory handle, for peers: remote keys, and exported
 * handles. Users transmit it, so it is checked like all data from peers. It is
 * short, because a user transmits one for each memory and peer, and some users
 * have fields of a fixed size for it (libfabric: 64 bytes). Numbers after names
 * are sizes in bytes, [ ] means "if present", and the owner is the process that
 * has mapped the memory:
 *
 *   | header of base/seal.h | sizes 1 | [rights 1 | memory type 1] | id 8 |
 *   | address and length 5..16 | keys ... |
 *
 *   sizes   bits 0-6: of address and length, see range.h; bit 7: rights and
 *           memory type are present. If they are not: all rights, host memory,
 *           not symmetric, and the owner carries out accesses by message
 *   rights  bits 0-3: local read, local write, remote read, remote write;
 *           4: the owner carries out accesses by message; 5: the memory is
 *           symmetric (UCP_MEM_MAP_SYMMETRIC_RKEY)
 *   key     | code * 4 + form | [domain 1] | [n 1..2 | n bytes] |
 *           code  6 bits of a hash of the component's name; 63: a field of a
 *                 later version
 *           form  bit 0: `domain` is present, otherwise it is that of the
 *                 previous key + 1 (of the first key: 0); bit 1: n (one byte
 *                 below 128, otherwise | 128 + n / 256 | n % 256 |) and the
 *                 component's packed key are present, the latter compressed
 *                 (base/squeeze.h). If bit 1 is 0, the component's packed key
 *                 is the id.
 *
 * The compression of a component's key refers to the bytes | id 8 | address 8 |
 * length 8 | zeros 8 | and to the keys before it, because the keys of
 * transports repeat these values. `domain` is the index of the memory domain in
 * the owner's context: it distinguishes domains of one component. Two
 * components may have the same code: a process that has both tries both.
 */
#ifndef UCP_MEM_PACKED_H
#define UCP_MEM_PACKED_H

#include "ucp/base/context.h"
#include "ucp/base/seal.h"

enum {
    /** Remote key: the peer calls ucp_ep_rkey_unpack */
    UCP_PACKED_RKEY     = UCP_SEAL_RKEY,
    /** Exported handle: the peer calls ucp_mem_map */
    UCP_PACKED_EXPORTED = UCP_SEAL_EXPORTED,

    /** Maximum total length in bytes of the components' packed keys */
    UCP_PACKED_MAX_KEYS = 2048,
};

/** The packed key of one component, for one memory domain. The memory at
 *  `bytes` belongs to the caller of ucp_packed_write(); after ucp_packed_read()
 *  it is part of ucp_packed_mem_t. */
typedef struct ucp_packed_key {
    uint8_t code; /**< ucp_packed_code() of the component */
    uint8_t md_index;
    const uint8_t *bytes;
    size_t length;
} ucp_packed_key_t;

typedef struct ucp_packed_mem {
    uint64_t id;
    uint64_t address;
    uint64_t length;
    unsigned prot; /**< UCP_MEM_MAP_PROT_* */
    ucs_memory_type_t mem_type;
    /** The owner's process carries out accesses to the memory that peers
     *  request by messages (rma/rma.h) */
    int by_owner;
    int symmetric; /**< The memory has the flag UCP_MEM_MAP_SYMMETRIC_RKEY */
    unsigned num_keys;
    ucp_packed_key_t keys[UCP_MAX_MDS];
    /** Used for the compression of the keys: the 32 bytes that the compression
     *  refers to (see above), and behind them the keys without compression */
    uint8_t window[32 + UCP_PACKED_MAX_KEYS];
} ucp_packed_mem_t;

/** Returns the code that stands for a component in packed keys: 6 bits of a
 *  hash of its name. */
uint8_t ucp_packed_code(const char *component);

/** Packs `mem` into a new buffer that the caller frees. `kind`: UCP_PACKED_RKEY
 *  or UCP_PACKED_EXPORTED. */
ucs_status_t ucp_packed_write(ucp_packed_mem_t *mem, uint8_t kind,
                              void **buffer_p, size_t *length_p);

/** Returns the length in bytes that the header states, or 0 if the buffer is
 *  not of this kind. At least four bytes must be readable. */
static inline size_t ucp_packed_length(const void *buffer, uint8_t kind)
{
    return ucp_seal_length(buffer, kind);
}

/** Unpacks bytes from a peer. Returns UCS_ERR_INVALID_PARAM, with a log line,
 *  if they are malformed or damaged. */
ucs_status_t ucp_packed_read(const void *buffer, size_t length, uint8_t kind,
                             ucp_packed_mem_t *mem);

#endif
