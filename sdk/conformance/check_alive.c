/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ep_check of a running peer succeeds with and without a completion, on a new
 * endpoint and while messages are in flight.
 */
#include "peer.h"

#define NUM_CHECKS 50

static ucs_status_t check_once(run_t *run, party_t *party, int with_comp)
{
    ucs_status_t status = UCS_ERR_NO_RESOURCE;
    party_done_t done;

    party_done_init(&done, party);
    party_wait(party,
               (status = uct_ep_check(party->ep, 0,
                                      with_comp ? &done.comp : NULL)) !=
                   UCS_ERR_NO_RESOURCE,
               PARTY_PATIENCE);
    if (status != UCS_INPROGRESS) {
        return status;
    }

    check_that(run, 26, with_comp,
               "ep_check without a completion answers "
               "UCS_INPROGRESS: nobody can be told");
    if (with_comp && !party_wait(party, done.calls > 0, PARTY_PATIENCE)) {
        check_fail(run, 26, "ep_check is not completed within %.0f s",
                   PARTY_PATIENCE);
        check_give_up(run);
    }
    check_that(run, 16, done.foreign == 0,
               "the completion of ep_check comes from another thread");
    return done.comp.status;
}

static void check_living(run_t *run, peer_t *peer, party_t *party)
{
    party_rx_t sent = {0}, rx;
    party_kind_t kind;
    ucs_status_t status;
    size_t length;
    unsigned i;

    kind = party_some_kind(party, &length);
    for (i = 0; (i < NUM_CHECKS) && !check_has_failed(run); ++i) {
        check_doing(run, "checking a living peer, time %u", i);
        status = check_once(run, party, i % 2);
        check_that(run, 26, status == UCS_OK,
                   "ep_check finds a living peer dead: %s",
                   ucs_status_string(status));
        if ((kind != PARTY_NUM_KINDS) &&
            (party_send(party, kind, length, 0, 1) == UCS_OK)) {
            party_expect(&sent, length);
        }
    }

    if (conversation_await(peer, &sent, &rx)) {
        conversation_compare(run, "the peer", &rx, &sent);
    }
    check_that(run, 26, party->failures == 0,
               "the error handler is called though the peer lives: %s",
               ucs_status_string(party->failure));
}

void check_alive(run_t *run)
{
    static party_t party;
    static peer_t peer;

    if (!conversation_begin(run, &peer, &party, 0)) {
        return;
    }
    if (!(party.attr->cap.flags & UCT_IFACE_FLAG_EP_CHECK)) {
        check_skip(run, "it has no ep_check");
    } else {
        check_living(run, &peer, &party);
    }
    conversation_end(&peer, &party);
}
