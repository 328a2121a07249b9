/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See refuse.h. Also sets up and cleans up the wire-up state of a worker.
 */
#include "ucp/wireup/refuse.h"

#include "ucp/wireup/handshake.h"
#include "ucp/wireup/pieces.h"
#include "ucp/wireup/state.h"
#include "ucs/debug/log.h"

#include <stdlib.h>

/* Limit the rejections that are pending on one worker: a peer may send requests
 * and not receive the replies. */
enum { MAX_REFUSALS = 64 };

/* A rejection that has not been sent completely. */
typedef struct {
    ucs_list_link_t   list;
    ucp_worker_h      worker;
    int               ending;    /* Non-zero: the next progress frees it */
    uct_oneshot_t     end;
    ucp_wireup_link_t link;
} refusal_t;

static void end(void *arg)
{
    refusal_t *refusal = arg;

    ucs_list_del(&refusal->list);
    --ucp_worker_wireup(refusal->worker)->num_refusals;
    ucp_wireup_link_close(&refusal->link);
    free(refusal);
}

/* Defers the end to the next progress, because a callback of the
 * link is running. */
static void end_later(refusal_t *refusal)
{
    if (!refusal->ending) {
        refusal->ending = 1;
        uct_worker_oneshot_post(refusal->worker->uct, &refusal->end, end,
                                refusal);
    }
}

static void link_sent(ucp_wireup_link_t *link)
{
    end_later(ucs_container_of(link, refusal_t, link));
}

static refusal_t *begin(ucp_worker_h worker, const ucp_address_info_t *peer)
{
    ucp_lane_choice_t aux;
    refusal_t *refusal;
    uct_ep_h uct;

    if ((ucp_worker_wireup(worker)->num_refusals == MAX_REFUSALS) ||
        !ucp_wireup_select_aux(worker, peer, 0, &aux) ||
        (ucp_wireup_connect_to_iface(worker, peer, &aux, &uct) != UCS_OK)) {
        return NULL;
    }

    refusal = malloc(sizeof(*refusal));
    if (refusal == NULL) {
        uct_ep_destroy(uct);
        return NULL;
    }
    refusal->worker = worker;
    refusal->ending = 0;
    ucp_wireup_link_init(&refusal->link, uct, &worker->ifaces[aux.iface_index],
                         link_sent);
    ucs_list_add_tail(&ucp_worker_wireup(worker)->refusals, &refusal->list);
    ++ucp_worker_wireup(worker)->num_refusals;
    return refusal;
}

void ucp_wireup_refuse(ucp_worker_h worker, const ucp_address_info_t *peer,
                       const ucp_wireup_request_t *request, ucs_status_t status)
{
    ucp_wireup_reply_t reply = {
        .asker  = request->sender,
        .sender = {.worker_uuid = ucp_le64(worker->uuid)},
        .status = status
    };
    char message[UCP_WIREUP_MAX_HEAD];
    refusal_t *refusal = begin(worker, peer);

    if (refusal == NULL) {
        ucs_debug("worker %s is not told that it is refused", peer->name);
        return;
    }

    status = ucp_wireup_link_send(&refusal->link, UCP_AM_ID_WIREUP_REPLY,
                                  message,
                                  ucp_wireup_reply_pack(&reply, message));
    if ((status != UCS_OK) || ucp_wireup_link_is_idle(&refusal->link)) {
        end_later(refusal);
    }
}

int ucp_wireup_link_failed(ucp_worker_h worker, uct_ep_h uct)
{
    refusal_t *refusal;

    ucs_list_for_each(refusal, &ucp_worker_wireup(worker)->refusals, list) {
        if (refusal->link.uct == uct) {
            end_later(refusal);
            return 1;
        }
    }
    return 0;
}

void ucp_wireup_worker_init(ucp_worker_h worker)
{
    ucs_list_head_init(&ucp_worker_wireup(worker)->pieces);
    ucs_list_head_init(&ucp_worker_wireup(worker)->refusals);
}

void ucp_wireup_worker_cleanup(ucp_worker_h worker)
{
    refusal_t *refusal;

    while (!ucs_list_is_empty(&ucp_worker_wireup(worker)->refusals)) {
        refusal = ucs_list_head(&ucp_worker_wireup(worker)->refusals, refusal_t,
                                list);
        uct_worker_oneshot_cancel(worker->uct, end, refusal);
        end(refusal);
    }
    ucp_wireup_pieces_cleanup(worker);
}
