/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the peer for which this side has a key. */
#ifndef CONFORMANCE_REMOTE_H
#define CONFORMANCE_REMOTE_H

#include "peer.h"

typedef struct remote {
    run_t *run;
    peer_t *peer;
    party_t *party;
    uint64_t address; /* Address at the peer */
    uct_rkey_bundle_t key;
    memory_t local; /* Local buffer of the same size */
} remote_t;

/* Requests memory. Returns 0 with a finding on failure. */
int remote_begin(run_t *run, peer_t *peer, party_t *party, size_t size,
                 remote_t *remote);
void remote_end(remote_t *remote);

/* Makes the peer fill the memory: `pattern` is the length of the pattern, or 0
 * for zeros. */
int remote_set(remote_t *remote, uint64_t address, size_t length,
               size_t pattern);
/* Makes the peer compare the memory: *bad_p is the offset of the first wrong
 * byte, or `length`. */
int remote_check(remote_t *remote, uint64_t address, size_t length,
                 size_t pattern, uint64_t *bad_p);
/* Makes the peer read a word of 4 or 8 bytes. */
int remote_word(remote_t *remote, uint64_t address, size_t size,
                uint64_t *value_p);

/* Waits until everything sent has reached the peer's memory. */
int remote_flush(remote_t *remote);

/* Waits for an operation that returned `status`. Returns 0 with a finding if it
 * fails. */
int remote_finish(remote_t *remote, const char *what, ucs_status_t status,
                  party_done_t *done);

#endif
