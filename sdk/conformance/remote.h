/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the peer for which this side has a key. */
#ifndef CONFORMANCE_REMOTE_H
#define CONFORMANCE_REMOTE_H

#include "peer.h"

typedef struct remote {
    run_t *run;
    peer_t *peer;
    party_t *party;
    uint64_t address;      /* Address of the memory in the peer process */
    uct_rkey_bundle_t key; /* Key for that memory */
    memory_t local;        /* Buffer of this side, of the same size */
} remote_t;

/* Requests `size` bytes of memory from the peer. Returns 0 with a finding on
 * failure. */
int remote_begin(run_t *run, peer_t *peer, party_t *party, size_t size,
                 remote_t *remote);
void remote_end(remote_t *remote);

/* Makes the peer fill `length` bytes of its memory with the beginning of a
 * message of `pattern` bytes (pattern.h), or with zeros if `pattern` is 0. */
int remote_set(remote_t *remote, uint64_t address, size_t length,
               size_t pattern);
/* Makes the peer compare `length` bytes of its memory with what remote_set()
 * writes for the same arguments: *bad_p receives the offset of the first wrong
 * byte, or `length`. */
int remote_check(remote_t *remote, uint64_t address, size_t length,
                 size_t pattern, uint64_t *bad_p);
/* Makes the peer read a word of 4 or 8 bytes. */
int remote_word(remote_t *remote, uint64_t address, size_t size,
                uint64_t *value_p);

/* Waits until everything sent has reached the peer's memory. */
int remote_flush(remote_t *remote);

/* Waits for the completion of an operation that returned `status`, if that is
 * UCS_INPROGRESS. `what` names the operation in findings. Returns 0 with a
 * finding if the operation fails. */
int remote_finish(remote_t *remote, const char *what, ucs_status_t status,
                  party_done_t *done);

#endif
