/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens and closes one side of a conversation, and receives. Sending is in
 * party_send.c.
 */
#include "party.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <ucx/inspect.h>
#include "pattern.h"
#include "plugin.h"
#include "slots.h"

/* --- Receiving ----------------------------------------------------------- */

static void note_bad(party_rx_t *rx, const char *what, size_t length,
                     size_t number)
{
    if (rx->bad++ == 0) {
        snprintf(rx->what, sizeof(rx->what), "a message of %zu bytes %s %zu",
                 length, what, number);
    }
}

static void verify(party_t *party, unsigned id, const void *data, size_t length)
{
    size_t bad = pattern_find_bad(data, length, 0, length);

    if (bad < length) {
        note_bad(&party->rx, "is damaged at byte", length, bad);
    } else if (id != length % UCT_AM_ID_MAX) {
        note_bad(&party->rx, "arrived under id", length, id);
    }
}

static ucs_status_t handle_message(void *arg, void *data, size_t length,
                                   unsigned flags)
{
    party_slot_t *slot = arg;
    party_t *party     = slot->party;
    party_rx_t *rx     = &party->rx;

    if (party->rushes) {
        ++rx->count;
        return UCS_OK;
    }
    rx->foreign += (gettid() != party->tid);
    ++rx->count;
    rx->bytes += length;
    rx->sum += pattern_mix(length);
    rx->order = pattern_extend(rx->order, length);
    verify(party, slot->id, data, length);

    if (!(flags & UCT_CB_PARAM_FLAG_DESC)) {
        return UCS_OK;
    }

    if (party->aligns &&
        (((uintptr_t)data + PARTY_ALIGN_OFFSET) % PARTY_ALIGNMENT != 0)) {
        ++rx->misaligned;
    }
    /* The receiver may write to the headroom: do so, to find transports that
     * still use it. */
    memset((char *)data - party->headroom, 0xee, party->headroom);
    if ((party->keep_every == 0) || (rx->count % party->keep_every != 0) ||
        (party->num_kept == PARTY_KEPT_MAX)) {
        return UCS_OK;
    }
    party->kept[party->num_kept++] = (party_kept_t){data, length};
    return UCS_INPROGRESS;
}

void party_release_kept(party_t *party)
{
    party_kept_t *kept;
    size_t bad;

    while (party->num_kept > 0) {
        kept = &party->kept[--party->num_kept];
        bad  = pattern_find_bad(kept->data, kept->length, 0, kept->length);
        if (bad < kept->length) {
            note_bad(&party->rx, "was kept and overwritten at byte",
                     kept->length, bad);
        }
        uct_iface_release_desc((char *)kept->data - party->headroom);
    }
}

static ucs_status_t handle_failure(void *arg, uct_ep_h ep, ucs_status_t status)
{
    party_t *party = arg;

    if (party->failures++ == 0) {
        party->rx_at_failure = party->rx.count;
    }
    party->foreign_failures += (gettid() != party->tid);
    party->failed_ep = ep;
    party->failure   = status;
    if (party->destroy_on_failure && (ep == party->ep)) {
        party->ep = NULL;
        uct_ep_destroy(ep);
    }
    return UCS_OK;
}

/* --- Opening ------------------------------------------------------------- */

static void signal_wake(void *arg)
{
    const uint64_t one = 1;

    if (write(((party_t *)arg)->wake_fd, &one, sizeof(one)) < 0) {
        return; /* The counter is at its maximum: already signalled */
    }
}

static int open_worker(party_t *party)
{
    ucs_status_t status;

    status = ucs_async_context_create(UCS_ASYNC_MODE_THREAD_MUTEX,
                                      &party->async);
    if (status != UCS_OK) {
        goto err;
    }
    status = uct_worker_create(party->async, UCS_THREAD_MODE_SINGLE,
                               &party->worker);
    if (status != UCS_OK) {
        goto err_async;
    }
    party->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (party->wake_fd < 0) {
        status = UCS_ERR_IO_ERROR;
        goto err_worker;
    }
    ucx_inspect_worker_wake(party->worker, signal_wake, party);
    return 1;

err_worker:
    uct_worker_destroy(party->worker);
err_async:
    ucs_async_context_destroy(party->async);
err:
    check_fail(party->run, 26, "a worker cannot be created: %s",
               ucs_status_string(status));
    return 0;
}

static void close_worker(party_t *party)
{
    ucx_inspect_worker_wake(party->worker, NULL, NULL);
    close(party->wake_fd);
    uct_worker_destroy(party->worker);
    ucs_async_context_destroy(party->async);
}

static int open_iface(party_t *party)
{
    const resource_t *resource = party->run->resource;
    uct_iface_params_t params  = {
         .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                       UCT_IFACE_PARAM_FIELD_DEVICE |
                       UCT_IFACE_PARAM_FIELD_RX_HEADROOM |
                       UCT_IFACE_PARAM_FIELD_AM_ALIGNMENT |
                       UCT_IFACE_PARAM_FIELD_AM_ALIGN_OFFSET |
                       UCT_IFACE_PARAM_FIELD_ERR_HANDLER |
                       UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG |
                       UCT_IFACE_PARAM_FIELD_ERR_HANDLER_FLAGS,
         .open_mode = UCT_IFACE_OPEN_MODE_DEVICE,
         .mode.device =
             {
                 .tl_name  = resource->tl,
                 .dev_name = resource->dev,
            },
         .rx_headroom     = party->headroom,
         .am_alignment    = PARTY_ALIGNMENT,
         .am_align_offset = PARTY_ALIGN_OFFSET,
         .err_handler     = handle_failure,
         .err_handler_arg = party,
    };
    uct_iface_config_t *config;
    ucs_status_t status;

    if (party->run->keepalive > 0) {
        params.field_mask |= UCT_IFACE_PARAM_FIELD_KEEPALIVE_INTERVAL;
        params.keepalive_interval =
            (ucs_time_t)(party->run->keepalive *
                         ucx_inspect_host()->ticks_per_second());
    }

    check_doing(party->run, "opening an interface");
    status = uct_md_iface_config_read(party->md, resource->tl, NULL, NULL,
                                      &config);
    if (status != UCS_OK) {
        check_fail(party->run, 26, "its variables cannot be read: %s",
                   ucs_status_string(status));
        return 0;
    }

    status = uct_iface_open(party->md, party->worker, &params, config,
                            &party->iface);
    uct_config_release(config);
    if (status != UCS_OK) {
        check_fail(party->run, 26,
                   "an interface on the listed device does "
                   "not open: %s",
                   ucs_status_string(status));
        return 0;
    }

    (void)uct_iface_query(party->iface, &party->attributes); /* Cannot fail */
    party->attr   = &party->attributes;
    party->aligns = (slots_iface_flags(party->iface) &
                     UCX_IFACE_FLAG_ALIGNS_AM) != 0;
    uct_iface_progress_enable(party->iface,
                              UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    return 1;
}

static int set_handlers(party_t *party)
{
    const uint64_t am = UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY |
                        UCT_IFACE_FLAG_AM_ZCOPY;
    ucs_status_t status;
    unsigned id;

    if (!(party->attr->cap.flags & am)) {
        return 1;
    }

    for (id = 0; id < UCT_AM_ID_MAX; ++id) {
        party->slots[id] = (party_slot_t){party, id};
        status           = uct_iface_set_am_handler(party->iface, (uint8_t)id,
                                                    handle_message, &party->slots[id],
                                          (party->attr->cap.flags &
                                           UCT_IFACE_FLAG_CB_SYNC) ?
                                                        0 :
                                                        UCT_CB_FLAG_ASYNC);
        if (!check_that(party->run, 25, status == UCS_OK,
                        "message id %u takes "
                        "no handler: %s; has the interface neither CB_SYNC nor "
                        "CB_ASYNC?",
                        id, ucs_status_string(status))) {
            return 0;
        }
    }
    return 1;
}

int party_open(run_t *run, party_t *party, size_t headroom)
{
    memset(party, 0, sizeof(*party));
    party->run      = run;
    party->tid      = gettid();
    party->headroom = headroom;

    if (plugin_load(run) == NULL) {
        return 0;
    }
    party->component = plugin_component(run->resource->component);
    if (!check_that(run, 24, party->component != NULL,
                    "the core does not know the component %s",
                    run->resource->component)) {
        return 0;
    }

    party->md = plugin_open_md(run, party->component, run->resource->md);
    if (party->md == NULL) {
        return 0;
    }
    if (!open_worker(party)) {
        goto err_md;
    }
    if (!open_iface(party)) {
        goto err_worker;
    }
    if (!set_handlers(party)) {
        goto err_iface;
    }
    return 1;

err_iface:
    uct_iface_close(party->iface);
err_worker:
    close_worker(party);
err_md:
    uct_md_close(party->md);
    return 0;
}

void party_close(party_t *party)
{
    check_doing(party->run, "closing the interface");
    party_release_kept(party);
    if (party->buffer.length > 0) {
        memory_put(&party->buffer);
    }
    uct_iface_close(party->iface);
    close_worker(party);
    check_doing(party->run, "closing the domain");
    uct_md_close(party->md);
}

unsigned party_progress(party_t *party)
{
    return uct_worker_progress(party->worker);
}

void party_settle(party_t *party, double seconds)
{
    double end = clock_now() + seconds;

    while (clock_now() < end) {
        if (party_progress(party) > 0) {
            end = clock_now() + seconds;
        } else {
            sched_yield();
        }
    }
}

int party_sleep(party_t *party, int fd, int milliseconds)
{
    struct pollfd fds[] = {
        {.fd = fd, .events = POLLIN},
        {.fd = party->wake_fd, .events = POLLIN},
    };
    uint64_t count;
    int ready;

    if (ucx_inspect_worker_has_work(party->worker)) {
        return 1;
    }
    ready = poll(fds, 2, milliseconds);
    if ((fds[1].revents != 0) &&
        (read(party->wake_fd, &count, sizeof(count)) < 0)) {
        return 1; /* The counter cannot be read: count it as a wake-up, so that
                   * it causes no finding */
    }
    return ready != 0;
}
