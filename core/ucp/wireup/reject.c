/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rejections of a peer's requests to connect lanes, over an auxiliary link
 * that exists until the rejection is sent (reject.h). Also sets up and cleans
 * up the wire-up state of a worker.
 */
#include "ucp/wireup/reject.h"

#include "ucp/wireup/fragments.h"
#include "ucp/wireup/handshake.h"
#include "ucp/wireup/state.h"
#include "ucs/debug/log.h"

#include <stdlib.h>

/* Limits the rejections that are pending on one worker: a peer may send
 * requests and not receive the replies. */
enum { MAX_REJECTIONS = 64 };

/* A rejection that has not been sent completely. */
typedef struct {
    ucs_list_link_t list;
    ucp_worker_h worker;
    int ending; /* Set if the next progress frees it */
    uct_oneshot_t end;
    ucp_wireup_link_t link;
} rejection_t;

static void end(void *arg)
{
    rejection_t *rejection = arg;

    ucs_list_del(&rejection->list);
    --ucp_worker_wireup(rejection->worker)->num_rejections;
    ucp_wireup_link_close(&rejection->link);
    free(rejection);
}

/* Defers the release to the next progress, because callers on the stack may
 * still use the link. */
static void end_later(rejection_t *rejection)
{
    if (!rejection->ending) {
        rejection->ending = 1;
        uct_worker_oneshot_post(rejection->worker->uct, &rejection->end, end,
                                rejection);
    }
}

static void link_sent(ucp_wireup_link_t *link)
{
    end_later(ucs_container_of(link, rejection_t, link));
}

static rejection_t *begin(ucp_worker_h worker, const ucp_address_info_t *peer)
{
    ucp_selected_lane_t aux;
    rejection_t *rejection;
    uct_ep_h uct;

    if ((ucp_worker_wireup(worker)->num_rejections == MAX_REJECTIONS) ||
        !ucp_wireup_select_aux(worker, peer, 0, &aux) ||
        (ucp_wireup_connect_to_iface(worker, peer, &aux, &uct) != UCS_OK)) {
        return NULL;
    }

    rejection = malloc(sizeof(*rejection));
    if (rejection == NULL) {
        uct_ep_destroy(uct);
        return NULL;
    }
    rejection->worker = worker;
    rejection->ending = 0;
    ucp_wireup_link_init(&rejection->link, uct,
                         &worker->ifaces[aux.iface_index], link_sent);
    ucs_list_add_tail(&ucp_worker_wireup(worker)->rejections, &rejection->list);
    ++ucp_worker_wireup(worker)->num_rejections;
    return rejection;
}

void ucp_wireup_reject(ucp_worker_h worker, const ucp_address_info_t *peer,
                       const ucp_wireup_request_t *request, ucs_status_t status)
{
    ucp_wireup_reply_t reply = {
        .requester = request->sender,
        .sender    = {.worker_uuid = ucp_le64(worker->uuid)},
        .status    = status,
    };
    char message[UCP_WIREUP_MAX_HEAD];
    rejection_t *rejection = begin(worker, peer);

    if (rejection == NULL) {
        ucs_debug("cannot notify worker %s that its request is rejected",
                  peer->name);
        return;
    }

    status = ucp_wireup_link_send(&rejection->link, UCP_AM_ID_WIREUP_REPLY,
                                  message,
                                  ucp_wireup_reply_pack(&reply, message));
    if ((status != UCS_OK) || ucp_wireup_link_is_idle(&rejection->link)) {
        end_later(rejection);
    }
}

int ucp_wireup_link_failed(ucp_worker_h worker, uct_ep_h uct)
{
    rejection_t *rejection;

    ucs_list_for_each(rejection, &ucp_worker_wireup(worker)->rejections, list) {
        if (rejection->link.uct == uct) {
            end_later(rejection);
            return 1;
        }
    }
    return 0;
}

void ucp_wireup_worker_init(ucp_worker_h worker)
{
    ucp_wireup_deadlines_init(worker);
    ucs_list_head_init(&ucp_worker_wireup(worker)->partial);
    ucs_list_head_init(&ucp_worker_wireup(worker)->rejections);
}

void ucp_wireup_worker_cleanup(ucp_worker_h worker)
{
    rejection_t *rejection;

    ucp_wireup_deadlines_cleanup(worker);
    while (!ucs_list_is_empty(&ucp_worker_wireup(worker)->rejections)) {
        rejection = ucs_list_head(&ucp_worker_wireup(worker)->rejections,
                                  rejection_t, list);
        uct_worker_oneshot_cancel(worker->uct, end, rejection);
        end(rejection);
    }
    ucp_wireup_fragments_cleanup(worker);
}
