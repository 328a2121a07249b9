/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the peer that this side has a key for. */
#ifndef CONFORMANCE_REMOTE_H
#define CONFORMANCE_REMOTE_H

#include "peer.h"

typedef struct remote {
    run_t *run;
    peer_t *peer;
    party_t *party;
    uint64_t address;       /* at the peer */
    uct_rkey_bundle_t key;
    memory_t local;         /* as large, of this side */
} remote_t;

/* 0 with a finding if there is none. */
int remote_begin(run_t *run, peer_t *peer, party_t *party, size_t size,
                 remote_t *remote);
void remote_end(remote_t *remote);

/* By the peer's own hand: `pattern` is the length of the pattern, or 0. */
int remote_set(remote_t *remote, uint64_t address, size_t length,
               size_t pattern);
/* The first byte of the range that is not as it should be, or `length`. */
int remote_check(remote_t *remote, uint64_t address, size_t length,
                 size_t pattern, uint64_t *bad_p);
/* What stands in a word of 4 or 8 bytes. */
int remote_word(remote_t *remote, uint64_t address, size_t size,
                uint64_t *value_p);

/* Everything sent has reached the peer's memory. */
int remote_flush(remote_t *remote);

/* How an operation that answered `status` ends; 0 with a finding if badly. */
int remote_finish(remote_t *remote, const char *what, ucs_status_t status,
                  party_done_t *done);

#endif
