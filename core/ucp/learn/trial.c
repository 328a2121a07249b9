/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects the protocol of large messages, puts and gets by measured times
 * instead of estimated costs (trial.h): decides which transfers are timed.
 * Terms: trial (learn.h), epoch (stream.h).
 */
#include "ucp/learn/trial.h"

#include "ucp/base/class.h"
#include "ucp/learn/lead.h"
#include "ucp/learn/live.h"
#include "ucp/learn/load.h"
#include "ucp/learn/timing.h"
#include "ucp/rndv/rndv.h"
#include "ucs/debug/log.h"
#include "ucs/sys/math.h"
#include "ucs/time/time.h"

#include <stdlib.h>

/* A timing without a result is dropped when a transfer begins more than this
 * many seconds after the last one of the timing: the user has paused, or the
 * peer makes no progress. */
#define TIMING_MAX 1.0

/* Number of transfers between two for which everything is decided, as long as the
 * others are like them. */
enum { REPEAT = 7 };

enum { NETWORK_MIN = 131072 }; /* See has_methods() */

/* Transfers over an endpoint with one of these flags are not timed, for
 * example, because lanes have failed. */
enum {
    NEVER = UCP_EP_FLAG_FAILED | UCP_EP_FLAG_CLOSING | UCP_EP_FLAG_NO_GET |
            UCP_EP_FLAG_FENCING,
};

static int has_one_network_lane(const ucp_ep_config_t *config)
{
    return (config->num_lanes == 1) && config->lanes[UCP_AM_LANE].is_network;
}

/* True if the fastest method for streams is searched: not over a single lane of a
 * network, where all methods bring about the same rate. */
static int learns_streams(const ucp_ep_h ep)
{
    return ep->worker->context->options.proto_learn_streams &&
           !has_one_network_lane(ep->config);
}

static struct ucp_trials *trials_of(ucp_worker_h worker)
{
    ucp_learn_worker_t *own = ucp_worker_learn(worker);

    if (own->trials == NULL) {
        own->trials = calloc(1, sizeof(*own->trials));
    }
    return own->trials;
}

/* Drops the timing if the new transfer `req` disturbs it, or if the timing
 * takes too long (TIMING_MAX). `learn`: the state of the search for `req` if it
 * follows others, else NULL. */
static void check_timing(ucp_timing_t *timing, const ucp_request_t *req,
                         const ucp_learn_t *learn, ucp_learn_now_t *now)
{
    if (timing->ep == NULL) {
        return;
    }
    if ((ucs_time_to_sec(ucp_learn_now(now) - timing->begin) > TIMING_MAX) ||
        ((timing->ep == req->send.ep) &&
         ((timing->num_marks > 1) ?
              ucp_timing_is_open(timing) && (timing->learn != learn) :
              (timing->marks[0].req != NULL)))) {
        ucp_timing_drop(timing);
    }
}

/* Returns the method of a transfer that follows others: that of the endpoint's
 * epoch, if some transfers of the epoch have not begun, otherwise the selected
 * one. Starts an epoch if one is due. */
static unsigned select_in_stream(struct ucp_trials *trials,
                                 const ucp_learn_entry_t *entry,
                                 ucp_request_t *req, ucp_learn_t *learn,
                                 ucp_learn_now_t *now)
{
    ucp_learn_stream_t *stream = ucp_learn_stream_of(learn);
    ucp_timing_t *timing       = &trials->timing;
    ucp_ep_h ep                = req->send.ep;
    ucp_learn_round_t round;

    if (ucp_timing_is_open(timing) && (timing->ep == ep)) {
        return ucp_timing_add(trials, req, ucp_learn_now(now));
    }
    /* only if an epoch may be due: ucp_timing_in_flight() reads all requests in
     * flight */
    if ((timing->ep == NULL) && (trials->flagged == 0) &&
        ucp_learn_stream_add(stream) &&
        ucp_learn_stream_next(stream, ucp_timing_in_flight(ep), req->dt.length,
                              &round)) {
        ucp_timing_round(trials, ep, stream, entry->op, &round);
        return ucp_timing_add(trials, req, ucp_learn_now(now));
    }
    return ucp_learn_stream_method(stream);
}

/* Keeps the selection of a transfer in a stream or exchange for the next `count`
 * ones. */
static void keep(struct ucp_trials *trials, const ucp_learn_entry_t *entry,
                 const ucp_request_t *req, ucp_learn_t *learn,
                 ucp_learn_load_t load, unsigned count)
{
    trials->last = (ucp_trial_last_t){
        .ep       = req->send.ep,
        .config   = entry->config,
        .lanes    = entry->lanes,
        .learn    = learn,
        .received = req->send.ep->worker->received,
        .op       = entry->op,
        .class    = (uint8_t)ucp_learn_size_class(req->dt.length),
        .load     = (uint8_t)load,
        .left     = (uint8_t)count,
    };
}

/* repeat() for a stream. In one direction no request needs to be under way: those
 * of eager messages complete early. So the next transfers after a stream may
 * count as part of it although they are alone. */
static unsigned repeat_in_stream(const struct ucp_trials *trials, ucp_ep_h ep)
{
    const ucp_trial_last_t *last = &trials->last;
    ucp_learn_stream_t *stream   = ucp_learn_stream_of(last->learn);
    int is_like                  = (last->load == UCP_LEARN_STREAM) ?
                                       (last->received == ep->worker->received) :
                                       !ucs_list_is_empty(&ep->awaited);

    return (!is_like || ucp_timing_needs_transfers(&trials->timing) ||
            !ucp_learn_stream_repeat(stream)) ?
               UCP_LEARN_NONE :
               ucp_learn_stream_method(stream);
}

/* repeat() for an exchange: since the last transfer data of the peer has
 * arrived. */
static unsigned repeat_in_exchange(struct ucp_trials *trials,
                                   ucp_request_t *req)
{
    ucp_trial_last_t *last = &trials->last;
    ucp_ep_h ep            = req->send.ep;
    uint64_t since         = ep->worker->received - last->received;
    unsigned method;

    if ((trials->timing.ep != NULL) || (since < req->dt.length / 2) ||
        ucp_learn_has_sends(ep)) {
        return UCP_LEARN_NONE;
    }
    method = ucp_lead_repeat(last->learn, req);
    if (method != UCP_LEARN_NONE) {
        ++trials->window.count;
        last->received = ep->worker->received;
    }
    return method;
}

/* Returns the method of a transfer for which nothing has to be decided: it is
 * like the last one of a stream or exchange, it is not timed, and no epoch or
 * trial may begin. Otherwise returns UCP_LEARN_NONE. The decisions of
 * select_method() take time because their code is often not in the caches after
 * the system calls that copy data. */
static unsigned repeat(ucp_request_t *req, ucp_op_t op, const void *lanes)
{
    ucp_ep_h ep               = req->send.ep;
    struct ucp_trials *trials = ucp_worker_learn(ep->worker)->trials;
    ucp_trial_last_t *last;
    unsigned method;

    if (trials == NULL) {
        return UCP_LEARN_NONE;
    }
    last = &trials->last;
    if ((last->ep != ep) || (last->config != ep->config) || (last->op != op) ||
        (last->lanes != lanes) || (last->left == 0) ||
        (last->class != ucp_learn_size_class(req->dt.length)) ||
        (ep->flags & NEVER) || ep->connecting) {
        return UCP_LEARN_NONE;
    }
    method = (last->load == UCP_LEARN_EXCHANGE) ?
                 repeat_in_exchange(trials, req) :
                 repeat_in_stream(trials, ep);
    if (method != UCP_LEARN_NONE) {
        --last->left;
        trials->sent += req->dt.length;
    }
    return method;
}

/* Returns the method of a transfer, and times it if necessary. `first`: the
 * method with the lowest cost. */
static unsigned select_method(struct ucp_trials *trials,
                              ucp_learn_entry_t *entry, ucp_request_t *req,
                              unsigned first)
{
    ucp_ep_h ep           = req->send.ep;
    ucp_timing_t *timing  = &trials->timing;
    ucp_learn_now_t now   = {0};
    ucp_learn_load_t load = ucp_learn_load_of(trials, entry, ep, req->dt.length,
                                              &now);
    int is_known          = !ucp_learn_is_stream(load) || learns_streams(ep);
    ucp_learn_t *learn    = is_known ? ucp_learn_entry_of(entry, ep, load,
                                                          req->dt.length, first) :
                                       NULL;
    unsigned method;
    int timed, is_trial;

    entry->last_ep       = ep;
    entry->last_time     = now.time;
    entry->last_received = ep->worker->received;
    check_timing(timing, req, ucp_learn_is_stream(load) ? learn : NULL, &now);
    if (learn == NULL) {
        return first;
    }
    if (learn->record == NULL) {
        ucp_learn_live_open(learn, ep->worker, entry->op, load, req->dt.length);
    }
    if (load == UCP_LEARN_EXCHANGE) {
        method = ucp_lead_exchange(entry, learn, req, &now);
        keep(trials, entry, req, learn, load, ucp_lead_quiet(learn, REPEAT));
        return method;
    }
    ucp_lead_stop_exchange(
        entry->of[UCP_LEARN_EXCHANGE][ucp_learn_size_class(req->dt.length)],
        ep);
    if (ucp_learn_is_stream(load)) {
        method   = select_in_stream(trials, entry, req, learn, &now);
        is_trial = (method != learn->best);
        if (load == UCP_LEARN_BOTH) {
            ucp_lead_stream(req, method, is_trial);
        }
        /* in a trial all transfers carry the method to the peer */
        keep(trials, entry, req, learn, load, is_trial ? 0 : REPEAT);
        return method;
    }
    if (timing->ep != NULL) {
        return learn->best;
    }
    method = ucp_learn_next(learn, &timed);
    if (timed) {
        ucp_timing_alone(trials, req, learn, entry->op, method,
                         ucp_learn_now(&now));
    }
    return method;
}

/* As select_method(), and counts the bytes (ucp_trials::sent). */
static unsigned select_and_count(struct ucp_trials *trials,
                                 ucp_learn_entry_t *entry, ucp_request_t *req,
                                 unsigned first)
{
    unsigned method = select_method(trials, entry, req, first);

    trials->sent += req->dt.length;
    return method;
}

/* ------------------------------------------------------------ selection -- */

/* True if methods are tried on this endpoint: not, for example, if the user's
 * settings select the protocols, or if lanes are being connected or have
 * failed. */
static int is_learning(ucp_ep_h ep)
{
    const ucp_config_options_t *options = &ep->worker->context->options;
    const ucp_ep_config_t *config       = ep->config;

    return options->proto_learn && !config->unconnected &&
           (config->lost == 0) && !ep->connecting && !(ep->flags & NEVER) &&
           (options->zcopy_thresh == SIZE_MAX);
}

/* True if a message of this length can be sent by several methods: its data can
 * be put or got over a lane, or it may be eager. Over a single lane of a network
 * the costs decide for messages of less than NETWORK_MIN bytes: a rendezvous
 * takes several times as long as an eager message there, so trials would cost
 * more than they gain. */
static int has_methods(const ucp_ep_config_t *config, ucp_op_t op,
                       size_t length)
{
    return (!has_one_network_lane(config) || (length >= NETWORK_MIN)) &&
           ((config->rndv_lane != UCP_NULL_LANE) ||
            ((op == UCP_OP_TAG_SEND) &&
             (ucp_learn_size_class(length) < UCP_LEARN_EAGER_END)));
}

/* As is_learning(), for messages that may use a rendezvous. */
static int is_learning_message(ucp_ep_h ep, ucp_op_t op, size_t length)
{
    const ucp_config_options_t *options = &ep->worker->context->options;

    return is_learning(ep) && has_methods(ep->config, op, length) &&
           (ep->config->rndv_prefer == 0) &&
           (options->rndv_thresh.intra == SIZE_MAX) &&
           (options->rndv_thresh.inter == SIZE_MAX);
}

/* Returns the entry of the endpoint's configuration, or NULL if out of memory
 * or if `trials` is NULL. */
static ucp_learn_entry_t *entry_of(struct ucp_trials *trials, ucp_ep_h ep,
                                   ucp_op_t op, const void *lanes)
{
    return (trials == NULL) ?
               NULL :
               ucp_learn_entry_get(&trials->entries, ep->config, op, lanes);
}

/* Returns the protocol for the longest messages of this operation, which is a
 * rendezvous if the user's settings allow it. */
static const ucp_proto_t *rndv_of(const ucp_ep_config_t *config, ucp_op_t op)
{
    return ucp_proto_find(&config->tables[op][UCP_DT_CLASS_CONTIG], SIZE_MAX);
}

/* Returns the method of a message, or UCP_LEARN_NONE if none is selected: the
 * protocol `proto` is used. `rndv`: the protocol of a rendezvous. */
static unsigned select_for_message(ucp_request_t *req, ucp_op_t op,
                                   const ucp_proto_t *proto,
                                   const ucp_proto_t *rndv)
{
    ucp_ep_h ep                   = req->send.ep;
    const ucp_ep_config_t *config = ep->config;
    struct ucp_trials *trials;
    ucp_learn_entry_t *entry;
    unsigned first = UCP_LEARN_EAGER;

    if (!is_learning_message(ep, op, req->dt.length) ||
        !(rndv->flags & UCP_PROTO_FLAG_RNDV)) {
        return UCP_LEARN_NONE;
    }
    trials = trials_of(ep->worker);
    entry  = entry_of(trials, ep, op, NULL);
    if (entry == NULL) {
        return UCP_LEARN_NONE;
    }
    if (proto == rndv) {
        first = ucp_learn_method_of(
            ucp_rndv_select(config, UCP_DT_CLASS_CONTIG, req->dt.length));
    }
    return select_and_count(trials, entry, req, first);
}

const ucp_proto_t *ucp_trial_select(ucp_request_t *req, ucp_op_t op,
                                    const ucp_proto_t *proto)
{
    const ucp_ep_config_t *config = req->send.ep->config;
    const ucp_proto_t *rndv       = rndv_of(config, op);
    unsigned method;

    if (req->dt.dt_class != UCP_DT_CLASS_CONTIG) {
        return proto;
    }
    method = repeat(req, op, NULL);
    if (method == UCP_LEARN_NONE) {
        method = select_for_message(req, op, proto, rndv);
    }
    if (method == UCP_LEARN_NONE) {
        return proto;
    }
    if (method == UCP_LEARN_EAGER) {
        return (proto == rndv) ?
                   ucp_proto_find(&config->eager, req->dt.length) :
                   proto;
    }
    req->data_flags = ucp_learn_method_flags[method];
    return rndv;
}

const ucp_proto_t *ucp_trial_rma(ucp_request_t *req, ucp_op_t op,
                                 const void *lanes, const ucp_proto_t *zcopy,
                                 const ucp_proto_t *messages,
                                 const ucp_proto_t *proto)
{
    const unsigned by_lane = (op == UCP_OP_GET) ? UCP_LEARN_GET : UCP_LEARN_PUT;
    ucp_ep_h ep            = req->send.ep;
    unsigned method        = repeat(req, op, lanes);
    ucp_learn_entry_t *entry;

    if (method == UCP_LEARN_NONE) {
        entry = ((ep->config->num_lanes > 1) && is_learning(ep)) ?
                    entry_of(trials_of(ep->worker), ep, op, lanes) :
                    NULL;
        if (entry == NULL) {
            return proto;
        }
        method = select_and_count(trials_of(ep->worker), entry, req,
                                  (proto == zcopy) ? by_lane : UCP_LEARN_AM);
    }
    return (method == by_lane) ? zcopy : messages;
}

/* --------------------------------------------------------------- output -- */

void ucp_trial_print(ucp_ep_h ep, FILE *stream)
{
    const struct ucp_trials *trials = ucp_worker_learn(ep->worker)->trials;
    const ucp_learn_entry_t *entry  = (trials == NULL) ? NULL : trials->entries;

    for (; entry != NULL; entry = entry->next) {
        if (entry->config == ep->config) {
            ucp_learn_entry_print(entry, stream);
        }
    }
}

void ucp_trial_show_change(ucp_ep_h ep, const ucp_learn_t *learn, ucp_op_t op,
                           ucp_learn_load_t load, size_t length,
                           unsigned before)
{
    FILE *stream;

    ucs_debug("ep %p: %s instead of %s for about %zu bytes%s: %.2f"
              " against %.2f GB/s",
              ep, ucp_learn_method_name(op, learn->best),
              ucp_learn_method_name(op, before), length,
              ucp_learn_load_name(load),
              1e-9 / ucp_learn_time(learn, learn->best),
              1e-9 / ucp_learn_time(learn, before));
    if (ep->worker->context->options.proto_info) {
        stream = ucs_log_open_stream();
        if (stream != NULL) {
            ucp_trial_print(ep, stream);
            fclose(stream);
        }
    }
}

/* ---------------------------------------------------------------- class -- */

static void worker_cleanup(ucp_worker_h worker)
{
    ucp_learn_worker_t *own = ucp_worker_learn(worker);
    ucp_learn_entry_t *entry;

    if (own->trials == NULL) {
        return;
    }
    while ((entry = own->trials->entries) != NULL) {
        own->trials->entries = entry->next;
        ucp_learn_entry_free(entry);
    }
    free(own->trials);
    own->trials = NULL;
}

static void ep_detach(ucp_ep_h ep)
{
    struct ucp_trials *trials = ucp_worker_learn(ep->worker)->trials;
    ucp_learn_entry_t *entry;
    unsigned class;

    if (trials == NULL) {
        return;
    }
    if (trials->timing.ep == ep) {
        ucp_timing_drop(&trials->timing);
    }
    if (trials->last.ep == ep) {
        trials->last.ep = NULL;
    }
    for (entry = trials->entries; entry != NULL; entry = entry->next) {
        if (entry->last_ep == ep) {
            entry->last_ep = NULL;
        }
        for (class = 0; class < UCP_LEARN_CLASSES; ++class) {
            ucp_lead_stop_exchange(entry->of[UCP_LEARN_EXCHANGE][class], ep);
        }
    }
}

static const ucp_class_message_t messages[] = {
    {UCP_AM_ID_PROBE, 0, 0, ucp_timing_probe},
};

const ucp_class_t ucp_learn_class = {
    .name           = "learn",
    .messages       = messages,
    .num_messages   = sizeof(messages) / sizeof(messages[0]),
    .worker_cleanup = worker_cleanup,
    .ep_detach      = ep_detach,
};
