/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See trial.h.
 */
#include "ucp/learn/trial.h"

#include "ucp/base/class.h"
#include "ucp/base/ids.h"
#include "ucp/learn/entry.h"
#include "ucp/order/queue.h"
#include "ucp/rndv/rndv.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"
#include "ucs/sys/math.h"
#include "ucs/time/time.h"

#include <stdlib.h>
#include <string.h>

/* Seconds after which a trial without a result is given up: the user sends no
 * more, or the peer makes no progress. */
#define TRIAL_MAX 1.0

/* The transfer that is being timed. */
typedef struct trial {
    ucp_ep_h ep; /* NULL if none is timed */
    ucp_learn_t *learn;
    ucp_op_t op;
    unsigned method;
    ucp_request_t *req; /* NULL if it is complete */
    uint32_t asked;     /* Number of the probe; 0: none sent */
    ucs_time_t begin;
    size_t length; /* Bytes of data */
} trial_t;

struct ucp_trials {
    ucp_learn_entry_t *entries; /* The most recently used one first */
    trial_t trial;
    uint32_t number; /* Number of the last probe */
};

/* -------------------------------------------------------------- entries -- */

static struct ucp_trials *trials_of(ucp_worker_h worker)
{
    if (worker->trials == NULL) {
        worker->trials = calloc(1, sizeof(*worker->trials));
    }
    return worker->trials;
}

/* Non-zero if earlier messages are under way. Eager messages complete early:
 * the peer may still be copying one if the next follows within the time of a
 * transfer. */
static int is_loaded(const ucp_learn_entry_t *entry, ucp_ep_h ep, size_t length,
                     ucs_time_t now)
{
    const ucp_learn_t *learn = entry->of[ucp_learn_size_class(length)];
    double time;

    if (!ucs_list_is_empty(&ep->awaited) || !ucs_queue_is_empty(&ep->waiting)) {
        return 1;
    }
    if ((learn == NULL) || (entry->last_ep != ep)) {
        return 0;
    }
    time = ucp_learn_time(learn, learn->best) * (double)length;
    return ucs_time_to_sec(now - entry->last_time) < 0.75 * time;
}

/* --------------------------------------------------------------- trials -- */

static void drop(trial_t *trial)
{
    if (trial->ep != NULL) {
        ucp_learn_drop(trial->learn);
        memset(trial, 0, sizeof(*trial));
    }
}

static void show_change(const trial_t *trial, unsigned before)
{
    const ucp_learn_t *learn = trial->learn;
    ucp_ep_h ep              = trial->ep;
    FILE *stream;

    ucs_debug("ep %p: %s instead of %s for about %zu bytes: %.2f"
              " against %.2f GB/s",
              ep, ucp_learn_method_name(trial->op, learn->best),
              ucp_learn_method_name(trial->op, before), trial->length,
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

static void result(trial_t *trial, double seconds)
{
    ucp_learn_t *learn = trial->learn;
    unsigned before    = learn->best;

    if (seconds <= 0) {
        drop(trial);
        return;
    }
    ucp_learn_result(learn, seconds / (double)trial->length);
    if (learn->best != before) {
        show_change(trial, before);
    }
    memset(trial, 0, sizeof(*trial));
}

/* Sends a probe, which the peer answers when it has processed the messages
 * before it. */
static ucs_status_t ask(struct ucp_trials *trials)
{
    ucp_ep_h ep         = trials->trial.ep;
    ucs_status_t status = ucp_wireup_introduce(ep);
    ucp_probe_t probe   = {.end = ucp_ep_wire_end(ep)};

    if (status != UCS_OK) {
        return status;
    }
    if (++trials->number == 0) {
        ++trials->number;
    }
    trials->trial.asked = trials->number;
    probe.number        = ucp_le32(trials->number);
    return ucp_ep_send_control(ep, UCP_AM_ID_PROBE, &probe, sizeof(probe));
}

/* True if the request of the transfer completes when the peer has the data (or,
 * for a get, this process). */
static int ends_with_request(const trial_t *trial)
{
    return (trial->op == UCP_OP_GET) || (trial->method == UCP_LEARN_GET) ||
           (trial->method == UCP_LEARN_PUT);
}

/* Seconds to add to the measured time. In a rendezvous, a message reports the
 * completion of a get; after a put, another message still has to reach the
 * peer. */
static double message_latency(const trial_t *trial)
{
    double latency = ucp_ep_config_am(trial->ep->config)->cost_bcopy.latency;

    if ((trial->op == UCP_OP_PUT) || (trial->op == UCP_OP_GET)) {
        return 0;
    }
    return (trial->method == UCP_LEARN_GET) ? -latency : latency;
}

void ucp_request_timed(ucp_request_t *req, ucs_status_t status)
{
    trial_t *trial = &req->worker->trials->trial;

    req->flags &= (uint16_t)~UCP_REQUEST_FLAG_TIMED;
    if (req != trial->req) {
        return; /* its trial was given up */
    }
    trial->req = NULL;
    if (status != UCS_OK) {
        drop(trial);
    } else if (ends_with_request(trial)) {
        result(trial, ucs_time_to_sec(ucs_get_time() - trial->begin) +
                          message_latency(trial));
    } else if (ask(req->worker->trials) != UCS_OK) {
        drop(trial);
    }
}

static void start_trial(trial_t *trial, ucp_request_t *req, ucp_learn_t *learn,
                        ucp_op_t op, unsigned method, ucs_time_t now)
{
    *trial = (trial_t){
        .ep     = req->send.ep,
        .learn  = learn,
        .op     = op,
        .method = method,
        .req    = req,
        .begin  = now,
        .length = req->dt.length,
    };
    req->flags |= UCP_REQUEST_FLAG_TIMED;
}

/* Returns the method of a message. `first`: the method by cost. */
static unsigned select_method(struct ucp_trials *trials,
                              ucp_learn_entry_t *entry, ucp_request_t *req,
                              unsigned first)
{
    ucp_ep_h ep    = req->send.ep;
    trial_t *trial = &trials->trial;
    ucs_time_t now = ucs_get_time();
    int loaded     = is_loaded(entry, ep, req->dt.length, now);
    ucp_learn_t *learn;
    unsigned method;
    int timed;

    entry->last_ep   = ep;
    entry->last_time = now;
    if ((trial->ep != NULL) &&
        (ucs_time_to_sec(now - trial->begin) > TRIAL_MAX)) {
        drop(trial);
    }
    learn = loaded ? NULL : ucp_learn_entry_of(entry, req->dt.length, first);
    if (learn == NULL) {
        return first;
    }
    if (trial->ep != NULL) {
        return learn->best;
    }
    method = ucp_learn_next(learn, &timed);
    if (timed) {
        start_trial(trial, req, learn, entry->op, method, now);
    }
    return method;
}

/* ------------------------------------------------------------ selection -- */

/* True if methods are tried: not if the user has selected one, if there is one
 * lane only, or while lanes are being connected or have failed. */
static int is_learning(ucp_ep_h ep)
{
    const ucp_config_options_t *options = &ep->worker->context->options;
    const ucp_ep_config_t *config       = ep->config;
    const unsigned never = UCP_EP_FLAG_FAILED | UCP_EP_FLAG_CLOSING |
                           UCP_EP_FLAG_NO_GET | UCP_EP_FLAG_FENCING;

    return options->proto_learn && (config->num_lanes > 1) &&
           !config->unconnected && (config->lost == 0) &&
           (ep->wireup == NULL) && !(ep->flags & never) &&
           (options->zcopy_thresh == SIZE_MAX);
}

/* As is_learning(), for messages that may use a rendezvous. */
static int is_learning_rndv(ucp_ep_h ep)
{
    const ucp_config_options_t *options = &ep->worker->context->options;
    const ucp_ep_config_t *config       = ep->config;

    return is_learning(ep) && (config->rndv_lane != UCP_NULL_LANE) &&
           (config->rndv_prefer == 0) &&
           (options->rndv_thresh.intra == SIZE_MAX) &&
           (options->rndv_thresh.inter == SIZE_MAX);
}

/* Returns NULL if out of memory. */
static ucp_learn_entry_t *entry_of(struct ucp_trials *trials, ucp_ep_h ep,
                                   ucp_op_t op, const void *lanes)
{
    return (trials == NULL) ?
               NULL :
               ucp_learn_entry_get(&trials->entries, ep->config, op, lanes);
}

/* Returns the rendezvous of this operation, which is at the end of the table of
 * sizes. */
static const ucp_proto_t *rndv_of(const ucp_ep_config_t *config, ucp_op_t op)
{
    return ucp_proto_find(&config->tables[op][UCP_DT_CLASS_CONTIG], SIZE_MAX);
}

const ucp_proto_t *ucp_trial_select(ucp_request_t *req, ucp_op_t op,
                                    const ucp_proto_t *proto)
{
    ucp_ep_h ep                   = req->send.ep;
    const ucp_ep_config_t *config = ep->config;
    const ucp_proto_t *rndv       = rndv_of(config, op);
    int is_rndv                   = (proto == rndv);
    struct ucp_trials *trials;
    unsigned method;
    ucp_learn_entry_t *entry;

    if ((req->dt.dt_class != UCP_DT_CLASS_CONTIG) || !is_learning_rndv(ep) ||
        !(rndv->flags & UCP_PROTO_FLAG_RNDV)) {
        return proto;
    }
    trials = trials_of(ep->worker);
    entry  = entry_of(trials, ep, op, NULL);
    if (entry == NULL) {
        return proto;
    }

    method = !is_rndv ? UCP_LEARN_EAGER :
                        ucp_learn_method_of(ucp_rndv_select(config,
                                                            UCP_DT_CLASS_CONTIG,
                                                            req->dt.length));
    method = select_method(trials, entry, req, method);
    if (method == UCP_LEARN_EAGER) {
        return is_rndv ? ucp_proto_find(&config->copied[op], req->dt.length) :
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
    struct ucp_trials *trials = is_learning(ep) ? trials_of(ep->worker) : NULL;
    ucp_learn_entry_t *entry  = entry_of(trials, ep, op, lanes);
    unsigned method           = (proto == zcopy) ? by_lane : UCP_LEARN_AM;

    if (entry == NULL) {
        return proto;
    }
    method = select_method(trials, entry, req, method);
    return (method == by_lane) ? zcopy : messages;
}

/* ------------------------------------------------------------- messages -- */

/* Returns the trial that this answer belongs to, or NULL. */
static trial_t *asked_by(ucp_worker_h worker, const ucp_probe_t *probe)
{
    uint64_t end = ucp_le64_get(probe->end.ep_id);
    ucp_ep_h ep  = ucp_id_get(worker->ep_ids, end & UINT32_MAX);

    return ((ep != NULL) && (ep->secret == (uint32_t)(end >> 32)) &&
            (worker->trials != NULL) && (worker->trials->trial.ep == ep)) ?
               &worker->trials->trial :
               NULL;
}

/* Returns the peer's time if the peer uses the clock of this machine, else the
 * current time. */
static ucs_time_t time_of(const trial_t *trial, const ucp_probe_t *probe)
{
    ucs_time_t now  = ucs_get_time();
    ucs_time_t time = ucp_le64_get(probe->time);

    return (trial->ep->config->is_local && (time > trial->begin) &&
            (time < now)) ?
               time :
               now;
}

static void answered(ucp_worker_h worker, const ucp_probe_t *probe)
{
    trial_t *trial  = asked_by(worker, probe);
    uint32_t number = ucp_le32_get(probe->number);

    if ((trial == NULL) || (number == 0) || (trial->asked != number)) {
        ucs_debug("dropped the answer to a probe: no such trial");
        return;
    }
    result(trial, ucs_time_to_sec(time_of(trial, probe) - trial->begin));
}

static ucs_status_t probe_handler(void *arg, void *data, size_t length,
                                  unsigned flags)
{
    ucp_worker_h worker = arg;
    ucp_probe_t probe;
    ucp_ep_h ep;

    if (length != sizeof(probe)) {
        ucs_diag("dropped a probe of %zu bytes: wrong size", length);
        return UCS_OK;
    }
    ucp_wire_take(&probe, data, length);
    if (probe.flags & UCP_PROBE_ANSWER) {
        answered(worker, &probe);
        return UCS_OK;
    }
    ep = ucp_wireup_reply_ep(worker, &probe.end);
    if ((ep == NULL) || (ep->flags & UCP_EP_FLAG_FAILED)) {
        ucs_debug("dropped a probe: its sender is not connected any more");
        return UCS_OK;
    }
    probe.flags = UCP_PROBE_ANSWER;
    probe.time  = ucp_le64(ucs_time_to_nsec(ucs_get_time()));
    if (ucp_ep_send_control(ep, UCP_AM_ID_PROBE, &probe, sizeof(probe)) !=
        UCS_OK) {
        ucs_debug("ep %p: cannot answer a probe", ep);
    }
    return UCS_OK;
}

/* --------------------------------------------------------------- output -- */

void ucp_trial_print(ucp_ep_h ep, FILE *stream)
{
    const ucp_learn_entry_t *entry = (ep->worker->trials == NULL) ?
                                         NULL :
                                         ep->worker->trials->entries;

    for (; entry != NULL; entry = entry->next) {
        if (entry->config == ep->config) {
            ucp_learn_entry_print(entry, stream);
        }
    }
}

/* ---------------------------------------------------------------- class -- */

static void worker_cleanup(ucp_worker_h worker)
{
    ucp_learn_entry_t *entry;

    if (worker->trials == NULL) {
        return;
    }
    while ((entry = worker->trials->entries) != NULL) {
        worker->trials->entries = entry->next;
        ucp_learn_entry_free(entry);
    }
    free(worker->trials);
    worker->trials = NULL;
}

static void ep_detach(ucp_ep_h ep)
{
    struct ucp_trials *trials = ep->worker->trials;
    ucp_learn_entry_t *entry;

    if (trials == NULL) {
        return;
    }
    if (trials->trial.ep == ep) {
        drop(&trials->trial);
    }
    for (entry = trials->entries; entry != NULL; entry = entry->next) {
        if (entry->last_ep == ep) {
            entry->last_ep = NULL;
        }
    }
}

static const ucp_class_message_t messages[] = {
    {UCP_AM_ID_PROBE, 0, 0, probe_handler},
};

const ucp_class_t ucp_learn_class = {
    .name           = "learn",
    .messages       = messages,
    .num_messages   = sizeof(messages) / sizeof(messages[0]),
    .worker_cleanup = worker_cleanup,
    .ep_detach      = ep_detach,
};
