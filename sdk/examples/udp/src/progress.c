/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress of an interface: receives, lets the streams retransmit, then calls
 * completions and reports failures.
 */
#include "udp.h"

#include <stdlib.h>

enum { DATAGRAMS_A_ROUND = 32 };

udp_done_t *udp_done_create(udp_done_t **list, uct_completion_t *comp,
                            uint32_t number)
{
    udp_done_t *done = calloc(1, sizeof(*done));

    if (done != NULL) {
        done->comp   = comp;
        done->number = number;
        while (*list != NULL) {
            list = &(*list)->next;
        }
        *list = done;
    }
    return done;
}

void udp_done_free(udp_done_t *done)
{
    if (done->of_iface) {
        ucx_count_drop(done->comp);
    }
    free(done);
}

void udp_iface_complete(udp_iface_t *iface, udp_done_t *done,
                        ucs_status_t status)
{
    udp_done_t **link = &iface->done;

    while (*link != NULL) {
        link = &(*link)->next;
    }
    done->status = status;
    done->next   = NULL;
    *link        = done;
}

static unsigned call_completions(udp_iface_t *iface)
{
    unsigned count = 0;
    udp_done_t *done;

    while ((done = iface->done) != NULL) {
        iface->done = done->next;
        ucx_complete(done->comp, done->status);
        free(done);
        ++count;
    }
    return count;
}

int udp_iface_is_idle(const udp_iface_t *iface)
{
    const udp_stream_t *stream;

    for (stream = iface->streams; stream != NULL; stream = stream->next) {
        if (!ucx_window_is_idle(&stream->window)) {
            return 0;
        }
    }
    return 1;
}

/* Calls pending requests, if the window is open. */
static unsigned call_pending(udp_stream_t *stream)
{
    return ((stream->status == UCS_OK) &&
            !ucx_pending_is_empty(&stream->pending) &&
            ucx_window_is_open(&stream->window)) ?
               ucx_pending_dispatch(&stream->pending) :
               0;
}

static void remove_stream(udp_iface_t *iface, udp_stream_t *stream)
{
    udp_stream_t **link = &iface->streams;

    while (*link != stream) {
        link = &(*link)->next;
    }
    *link = stream->next;
    udp_stream_free(stream);
}

/* Checks the times of all streams and calls their pending requests. Frees
 * streams whose endpoint is destroyed and which have no unacknowledged
 * datagrams. Pending requests may create endpoints: their streams are added at
 * the head of the list, so that the loop is not affected. */
static unsigned check_streams(udp_iface_t *iface)
{
    double now     = iface->host->time();
    unsigned count = 0;
    udp_stream_t *stream, *next;

    for (stream = iface->streams; stream != NULL; stream = next) {
        udp_stream_check_time(stream, now);
        count += call_pending(stream);
        next = stream->next;
        if ((stream->ep == NULL) && ucx_window_is_idle(&stream->window)) {
            remove_stream(iface, stream);
        }
    }
    return count;
}

/* Reports failures to the user, who may destroy the endpoint inside the call.
 * The stream remains, so that the loop can continue. */
static unsigned report_failures(udp_iface_t *iface)
{
    unsigned count = 0;
    udp_stream_t *stream;

    for (stream = iface->streams; (iface->num_failed > 0) && (stream != NULL);
         stream = stream->next) {
        if ((stream->ep != NULL) && (stream->status != UCS_OK) &&
            !stream->is_told) {
            stream->is_told = 1;
            --iface->num_failed;
            ++count;
            iface->host->iface_ep_failed(&iface->super, &stream->ep->super,
                                         stream->status);
        }
    }
    return count;
}

unsigned udp_iface_progress(uct_iface_h super)
{
    udp_iface_t *iface = (udp_iface_t *)super;
    unsigned count     = 0, i;
    UCX_EXCLUDE_SERVICE(&iface->guard);

    ++iface->rounds;
    count += udp_service_deliver(iface);
    for (i = 0; (i < DATAGRAMS_A_ROUND) && udp_receive(iface, &count); ++i) {
    }
    count += check_streams(iface);
    count += call_completions(iface);
    if (i < DATAGRAMS_A_ROUND) { /* All datagrams were received. Otherwise, some
                                  * of a failed peer may still wait: deliver
                                  * them before its failure is reported. */
        count += report_failures(iface);
    }
    return count;
}

/* Flushes the interface: completes when everything that its streams have sent
 * so far is acknowledged. Does not wait for datagrams that are sent later. */
ucs_status_t udp_iface_flush(uct_iface_h super, unsigned flags,
                             uct_completion_t *comp)
{
    udp_iface_t *iface = (udp_iface_t *)super;
    udp_stream_t *stream;
    ucx_count_t *count;
    udp_done_t *done;
    UCX_EXCLUDE_SERVICE(&iface->guard);

    (void)flags;
    if (udp_iface_is_idle(iface)) {
        return UCS_OK;
    } else if (comp == NULL) {
        return UCS_INPROGRESS;
    }
    count = ucx_count_create(comp);
    if (count == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    for (stream = iface->streams; stream != NULL; stream = stream->next) {
        if (!ucx_window_is_idle(&stream->window)) {
            done = udp_done_create(&stream->flushes, ucx_count_add(count),
                                   stream->window.tx_psn);
            ucx_count_result(count, (done == NULL) ? UCS_ERR_NO_MEMORY :
                                                     UCS_INPROGRESS);
            if (done != NULL) {
                done->of_iface = 1;
            }
        }
    }
    return ucx_count_close(count);
}
