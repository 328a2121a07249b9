/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests memory from the peer process, makes the peer fill and verify that
 * memory, and waits for operations on it. */
#include "remote.h"
#include "slots.h"

#include <string.h>

static peer_message_t message;

static int ask_peer(remote_t *remote, peer_op_t op, uint64_t value,
                    size_t length, uint64_t count)
{
    memset(&message, 0, sizeof(message));
    message.op     = op;
    message.value  = value;
    message.length = length;
    message.count  = count;
    return peer_call(remote->peer, &message, &message);
}

int remote_begin(run_t *run, peer_t *peer, party_t *party, size_t size,
                 remote_t *remote)
{
    ucs_status_t status;

    *remote = (remote_t){.run = run, .peer = peer, .party = party};
    check_doing(run, "showing memory to a peer");
    status = memory_get(party->md, size, &remote->local);
    if (!check_that(run, 26, status == UCS_OK,
                    "%zu bytes cannot be registered: %s", size,
                    ucs_status_string(status))) {
        return 0;
    }
    if (!ask_peer(remote, PEER_MEM_GET, 0, size, 0)) {
        goto err;
    }

    remote->address = message.value;
    status = slots_rkey_unpack(party->component, party->md, message.blob,
                               message.blob_size, &remote->key);
    if (!check_that(run, 26, status == UCS_OK,
                    "the peer's key is not unpacked: %s",
                    ucs_status_string(status))) {
        goto err;
    }
    return 1;

err:
    memory_put(&remote->local);
    return 0;
}

void remote_end(remote_t *remote)
{
    check_doing(remote->run, "giving remote memory back");
    uct_rkey_release(remote->party->component, &remote->key);
    peer_tell(remote->peer, PEER_MEM_PUT);
    memory_put(&remote->local);
}

int remote_set(remote_t *remote, uint64_t address, size_t length,
               size_t pattern)
{
    return ask_peer(remote, PEER_MEM_SET, address, length, pattern);
}

int remote_check(remote_t *remote, uint64_t address, size_t length,
                 size_t pattern, uint64_t *bad_p)
{
    if (!ask_peer(remote, PEER_MEM_CHECK, address, length, pattern)) {
        return 0;
    }
    *bad_p = message.value;
    return 1;
}

int remote_word(remote_t *remote, uint64_t address, size_t size,
                uint64_t *value_p)
{
    if (!ask_peer(remote, PEER_MEM_WORD, address, size, 0)) {
        return 0;
    }
    *value_p = message.value;
    return 1;
}

/* Flushes remotely. If the interface has no remote flush, flushes locally: then
 * the peer's progress completes the operations before the peer executes the
 * next request. */
int remote_flush(remote_t *remote)
{
    unsigned flags      = UCT_FLUSH_FLAG_REMOTE;
    ucs_status_t status = UCS_INPROGRESS;
    party_done_t done;

    for (;;) {
        party_done_init(&done, remote->party);
        party_wait(remote->party,
                   (status = uct_ep_flush(remote->party->ep, flags,
                                          &done.comp)) != UCS_ERR_NO_RESOURCE,
                   PARTY_PATIENCE);
        if ((status != UCS_ERR_UNSUPPORTED) ||
            (flags == UCT_FLUSH_FLAG_LOCAL)) {
            return remote_finish(remote, "flush", status, &done);
        }
        flags = UCT_FLUSH_FLAG_LOCAL;
    }
}

int remote_finish(remote_t *remote, const char *what, ucs_status_t status,
                  party_done_t *done)
{
    if (status == UCS_INPROGRESS) {
        if (!party_wait(remote->party, done->calls > 0, PARTY_PATIENCE)) {
            check_fail(remote->run, 26, "%s is not completed within %.0f s",
                       what, PARTY_PATIENCE);
            check_give_up(remote->run);
        }
        check_that(remote->run, 16, done->foreign == 0,
                   "the completion of %s is called by another thread", what);
        status = done->comp.status;
    } else {
        check_that(remote->run, 26, done->calls == 0,
                   "%s answers %s and calls its completion too", what,
                   ucs_status_string(status));
    }
    return check_that(remote->run, 26, status == UCS_OK, "%s ends with %s",
                      what, ucs_status_string(status));
}
