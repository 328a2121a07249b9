/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that cma interfaces exchange: addresses and keys (little-endian, because
 * they may be sent to other hosts) and the messages of an inbox (which stay on
 * the host).
 */
#ifndef SHM_CMA_WIRE_H
#define SHM_CMA_WIRE_H

#include "plugin.h"

#include <endian.h>
#include <string.h>

/* Device address: the kernel and the PID namespace, within which a PID
 * identifies one process. */
typedef struct __attribute__((packed)) cma_wire_device {
    uint64_t machine; /* Identifies the running kernel */
    uint32_t pid_ns;  /* 0: unknown */
} cma_wire_device_t;

/* Interface address. The address of the segment of its inbox follows; zeros
 * follow if it has no inbox, and nothing if its domain cannot have inboxes. */
typedef struct __attribute__((packed)) cma_wire_iface {
    uint32_t pid;
    uint8_t flags;  /* CMA_WIRE_* */
    uint64_t token; /* Random; first member of the domain's cma_words_t
                     * (cma.h) */
    uint64_t words; /* Address of cma_words_t in its process */
} cma_wire_iface_t;

enum { CMA_WIRE_INBOX = 1u << 0 }; /* The interface has an inbox */

/* A remote key. `token`: lower half of the token of the memory's domain, by
 * which keys of other processes are detected. The kernel checks permissions. */
typedef struct __attribute__((packed)) cma_wire_key {
    uint32_t token;
    uint64_t address;
    uint64_t length;
} cma_wire_key_t;

/* A remote key of all memory of a process */
typedef struct cma_wire_process_key {
    uint32_t token;
} cma_wire_process_key_t;

_Static_assert(sizeof(cma_wire_device_t) == 12, "on the wire");
_Static_assert(sizeof(cma_wire_iface_t) == 21, "on the wire");
_Static_assert(sizeof(cma_wire_key_t) == 20, "on the wire");

/* Messages to an inbox: their ids */
enum { CMA_MSG_HELLO = 1, CMA_MSG_JOB = 2 };

/* First message of a sender: its PID, and in `proof` an address in the sender's
 * memory. There the sender has stored the receiver's secret, which it has read
 * from the receiver's memory. The receiver reads it from that address, and so
 * verifies that the sender is permitted to read the receiver's memory. */
typedef struct cma_msg_hello {
    uint32_t pid;
    uint32_t zero;
    uint64_t proof;
} cma_msg_hello_t;

enum {
    CMA_JOB_PUT      = 1u << 0, /* The operation is a put, not a get */
    CMA_JOB_FROM_END = 1u << 1, /* Chunk 0 is at the end of the data */
    CMA_JOB_FLAGS    = 3,
};

/* Asks the receiver to copy chunks of a put or get of the sender
 * (cma_job.h). */
typedef struct cma_msg_job {
    uint8_t
        index; /* Index of the job's words (cma_job_t) in the private area of
                * the sender's box (layout.h) */
    uint8_t flags;  /* CMA_JOB_* */
    uint16_t count; /* Number of chunks */
    uint32_t generation;
    uint64_t remote; /* Address in the receiver's memory */
    uint64_t local;  /* Address in the sender's memory */
    uint64_t length; /* Bytes of all chunks */
    uint64_t chunk;  /* Bytes of each chunk except the last */
} cma_msg_job_t;

_Static_assert(sizeof(cma_msg_job_t) == 40, "fits a cell");

#endif
