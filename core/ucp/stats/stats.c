/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters of UCP: their names, the records of workers, interfaces and
 * endpoints in the statistics of the process (ucs/stats), and the functions
 * that count. stats_lane.c has the counters of lanes.
 */
#include "ucp/stats/stats.h"

#include "ucp/proto/ep.h"
#include "ucs/debug/log.h"

#include <stdlib.h>

/* -------------------------------------------------------------- counters -- */

#define EVENTS(_name) \
    { \
        _name, UCS_STATS_EVENTS \
    }
#define MESSAGES(_name) \
    {_name, UCS_STATS_MESSAGES}, \
    { \
        _name, UCS_STATS_BYTES \
    }

static const ucs_stats_counter_t worker_counters[] = {
    EVENTS("progress"),         EVENTS("progress_empty"),
    EVENTS("sleeps"),           EVENTS("signals"),
    EVENTS("endpoints"),        EVENTS("endpoints_failed"),
    EVENTS("lanes_lost"),       MESSAGES("recv/tag"),
    MESSAGES("recv/early"),     MESSAGES("recv/am"),
    MESSAGES("recv/stream"),    MESSAGES("recv/rndv"),
    MESSAGES("recv/fragments"), MESSAGES("recv/put"),
    MESSAGES("recv/replies"),   MESSAGES("recv/control"),
    EVENTS("recv/get"),         EVENTS("recv/atomic"),
};

static const ucs_stats_counter_t interface_counters[] = {
    MESSAGES("received"),
};

/* Counters of protocols have the names that UCX_PROTO_INFO shows, except those
 * of the data of a rendezvous: rndv_by/get counts rndv/get, for example. */
static const ucs_stats_counter_t endpoint_counters[] = {
    MESSAGES("eager/short"), MESSAGES("eager/bcopy"),  MESSAGES("eager/zcopy"),
    MESSAGES("rndv"),        MESSAGES("am/short"),     MESSAGES("am/bcopy"),
    MESSAGES("am/zcopy"),    MESSAGES("am/rndv"),      MESSAGES("stream/short"),
    MESSAGES("stream/copy"), MESSAGES("stream/zcopy"), MESSAGES("put/short"),
    MESSAGES("put/bcopy"),   MESSAGES("put/zcopy"),    MESSAGES("put/am"),
    MESSAGES("get/short"),   MESSAGES("get/bcopy"),    MESSAGES("get/zcopy"),
    MESSAGES("get/am"),      MESSAGES("rndv_by/get"),  MESSAGES("rndv_by/put"),
    MESSAGES("rndv_by/am"),  MESSAGES("replies"),      MESSAGES("control"),
    MESSAGES("eager/multi"), MESSAGES("am/multi"),     EVENTS("atomic/direct"),
    EVENTS("atomic/am"),     EVENTS("synchronous"),    EVENTS("waits"),
    EVENTS("retries"),
};

static const ucs_stats_counter_t lane_counters[] = {
    MESSAGES("am_short"),  MESSAGES("am_bcopy"),  MESSAGES("am_zcopy"),
    MESSAGES("put_short"), MESSAGES("put_bcopy"), MESSAGES("put_zcopy"),
    MESSAGES("get_short"), MESSAGES("get_bcopy"), MESSAGES("get_zcopy"),
    EVENTS("atomic"),      EVENTS("no_room"),     EVENTS("waits"),
    EVENTS("errors"),
};

/* The methods are in the order of UCP_LEARN_* in learn/entry.h, the reasons in
 * the order of ucp_learn_reason_t in learn/learn.h. */
static const ucs_stats_counter_t learnt_counters[] = {
    EVENTS("units"),          EVENTS("selected/eager"),
    EVENTS("selected/get"),   EVENTS("selected/put"),
    EVENTS("selected/am"),    EVENTS("reason/estimated"),
    EVENTS("reason/fastest"), EVENTS("reason/within_noise"),
    EVENTS("reason/peer"),    EVENTS("mb_per_s/eager"),
    EVENTS("mb_per_s/get"),   EVENTS("mb_per_s/put"),
    EVENTS("mb_per_s/am"),
};

#define TYPE(_name, _counters) \
    { \
        _name, _counters, sizeof(_counters) / sizeof((_counters)[0]) \
    }

static const ucs_stats_type_t types[] = {
    [UCP_STATS_WORKER]    = TYPE("worker", worker_counters),
    [UCP_STATS_INTERFACE] = TYPE("interface", interface_counters),
    [UCP_STATS_ENDPOINT]  = TYPE("endpoint", endpoint_counters),
    [UCP_STATS_LANE]      = TYPE("lane", lane_counters),
    [UCP_STATS_LEARNT]    = TYPE("learnt", learnt_counters),
};

#define COUNT_OF(_array) (sizeof(_array) / sizeof((_array)[0]))

_Static_assert(COUNT_OF(worker_counters) == UCP_STATS_WORKER_LAST, "rows");
_Static_assert(COUNT_OF(endpoint_counters) == UCP_STATS_ENDPOINT_LAST, "rows");
_Static_assert(COUNT_OF(learnt_counters) == UCP_STATS_LEARNT_LAST, "rows");
_Static_assert(COUNT_OF(lane_counters) == UCP_STATS_LANE_LAST, "rows");

int ucp_stats_open(const ucs_config_source_t *source)
{
    return ucs_stats_open(types, COUNT_OF(types), source);
}

void ucp_stats_close(void)
{
    ucs_stats_close();
}

/* --------------------------------------------------------------- workers -- */

/* Argument of counting_handler(), which counts the messages of one active
 * message id and then calls `handler`. */
typedef struct {
    uct_am_callback_t handler;
    ucp_worker_h worker;
    ucs_stats_record_t *record;    /* Record of the worker */
    ucs_stats_record_t *interface; /* Record of the interface; NULL if there
                                    * was no space for it */
    uint16_t counter;              /* Index in the worker's record */
    uint16_t header;               /* Bytes of a message that are not data, or
                                    * UCP_CLASS_NO_BYTES (base/class.h) */
} handler_t;

/* Counters of received messages for an interface. */
typedef struct {
    ucs_stats_record_t *record;
    handler_t handlers[UCP_AM_ID_LAST];
} iface_stats_t;

struct ucp_worker_stats {
    ucs_stats_record_t *record;
    /* Records that endpoints, or lanes, share if there was no space for records
     * of their own (UCX_STATS_MAX_SIZE) */
    ucs_stats_record_t *other_eps;
    ucs_stats_record_t *other_lanes;
    iface_stats_t *ifaces; /* Indexed by interface */
    unsigned num_ifaces;   /* Length of `ifaces` */
    /* The messages of all classes by id; NULL if there is none */
    const ucp_class_message_t *messages[UCP_AM_ID_LAST];
};

static ucs_status_t counting_handler(void *arg, void *data, size_t length,
                                     unsigned flags)
{
    const handler_t *self = arg;

    if (self->header == UCP_CLASS_NO_BYTES) {
        ucs_stats_add(self->record, self->counter, 1);
    } else {
        ucs_stats_add_message(self->record, self->counter,
                              (length > self->header) ? length - self->header :
                                                        0);
    }
    if (self->interface != NULL) {
        ucs_stats_add_message(self->interface, 0, length);
    }
    return self->handler(self->worker, data, length, flags);
}

static void resource_name(ucp_worker_h worker, const ucp_resource_t *resource,
                          char *name, size_t max)
{
    snprintf(name, max, "%s/%s", resource->tl_name, resource->dev_name);
}

void ucp_stats_wrap_handler(ucp_worker_iface_t *wiface,
                            const ucp_class_message_t *message,
                            uct_am_callback_t *handler_p, void **arg_p)
{
    ucp_worker_h worker       = wiface->worker;
    ucp_worker_stats_t *stats = worker->stats;
    iface_stats_t *iface      = &stats->ifaces[wiface - worker->ifaces];
    handler_t *self           = &iface->handlers[message->id];
    char name[UCS_STATS_NAME_MAX];

    if (iface->record == NULL) {
        resource_name(worker, &worker->context->resources[wiface->resource],
                      name, sizeof(name));
        iface->record = ucs_stats_create(UCP_STATS_INTERFACE, stats->record,
                                         name);
    }

    self->handler   = *handler_p;
    self->worker    = worker;
    self->record    = stats->record;
    self->interface = iface->record;
    self->counter   = message->counter;
    self->header    = message->header;
    if (self->counter == 0) {
        self->counter = UCP_STATS_RECV_OWN_MSGS;
    }
    *handler_p = counting_handler;
    *arg_p     = self;
}

static void list_messages(ucp_worker_stats_t *stats)
{
    const ucp_class_t *const *class;
    unsigned i;

    for (class = ucp_classes; *class != NULL; ++class) {
        for (i = 0; i < (*class)->num_messages; ++i) {
            stats->messages[(*class)->messages[i].id] = &(*class)->messages[i];
        }
    }
}

ucp_worker_stats_t *ucp_stats_worker_create(ucp_worker_h worker)
{
    ucp_worker_stats_t *stats;

    if (!worker->context->counts) {
        return NULL;
    }

    stats = calloc(1, sizeof(*stats));
    if (stats == NULL) {
        return NULL;
    }
    list_messages(stats);
    stats->num_ifaces  = worker->context->num_resources;
    stats->ifaces      = calloc(stats->num_ifaces, sizeof(*stats->ifaces));
    stats->record      = ucs_stats_create(UCP_STATS_WORKER, NULL, worker->name);
    stats->other_eps   = ucs_stats_create_sum(UCP_STATS_ENDPOINT, stats->record,
                                              "without record");
    stats->other_lanes = ucs_stats_create_sum(UCP_STATS_LANE, stats->record,
                                              "without record");
    if ((stats->ifaces == NULL) || (stats->record == NULL) ||
        (stats->other_eps == NULL) || (stats->other_lanes == NULL)) {
        ucs_diag("worker %s is not counted: out of memory for counters, see "
                 "UCX_STATS_MAX_SIZE",
                 worker->name);
        stats->num_ifaces = (stats->ifaces != NULL) ? stats->num_ifaces : 0;
        ucp_stats_worker_destroy(stats);
        return NULL;
    }
    return stats;
}

void ucp_stats_worker_destroy(ucp_worker_stats_t *stats)
{
    unsigned i;

    if (stats == NULL) {
        return;
    }
    for (i = 0; i < stats->num_ifaces; ++i) {
        ucs_stats_end(stats->ifaces[i].record, UCS_OK);
    }
    ucs_stats_end(stats->other_lanes, UCS_OK);
    ucs_stats_end(stats->other_eps, UCS_OK);
    ucs_stats_end(stats->record, UCS_OK);
    free(stats->ifaces);
    free(stats);
}

ucs_stats_record_t *ucp_stats_worker_record(const ucp_worker_stats_t *stats)
{
    return stats->record;
}

void ucp_stats_progress(ucp_worker_stats_t *stats, unsigned count)
{
    ucs_stats_add(stats->record, UCP_STATS_PROGRESS, 1);
    ucs_stats_add(stats->record, UCP_STATS_PROGRESS_EMPTY, count == 0);
}

/* ------------------------------------------------------------- endpoints -- */

struct ucp_ep_stats {
    ucs_stats_record_t *record;
    int is_shared; /* `record` is other_eps, because there was no space for a
                    * record of its own */
    unsigned num_lanes;
    struct {
        ucs_stats_record_t *record; /* NULL if shared, or if the lane is lost */
        void *counting; /* Memory of ucp_stats_lane_attach(), or NULL */
    } lanes[];
};

static void attach_lane(ucp_ep_h ep, unsigned lane, uct_ep_h uct)
{
    ucp_worker_h worker   = ep->worker;
    ucp_ep_stats_t *stats = ucp_ep_stats(ep);
    ucs_stats_record_t *record;
    char name[UCS_STATS_NAME_MAX];

    resource_name(
        worker,
        ucp_worker_iface_resource(worker, ep->config->lanes[lane].iface_index),
        name, sizeof(name));
    record = ucs_stats_create(UCP_STATS_LANE, stats->record, name);
    stats->lanes[lane].record   = record;
    stats->lanes[lane].counting = ucp_stats_lane_attach(
        uct, worker->stats->messages,
        (record != NULL) ? record : worker->stats->other_lanes, stats->record);
}

void ucp_stats_ep_begin(ucp_ep_h ep, const char *peer, const uct_ep_h *lanes)
{
    unsigned num_lanes  = ep->config->num_lanes;
    ucp_worker_h worker = ep->worker;
    ucp_ep_stats_t *stats;
    char name[UCS_STATS_NAME_MAX];
    unsigned i;

    if (ucs_likely(worker->stats == NULL) || (ucp_ep_stats(ep) != NULL) ||
        (ucp_ep_extra(ep) == NULL)) {
        return;
    }
    stats = calloc(1, sizeof(*stats) + num_lanes * sizeof(stats->lanes[0]));
    if (stats == NULL) {
        return;
    }

    ep->extra->stats = stats;
    snprintf(name, sizeof(name), "%s%u to %s",
             (ep->flags & UCP_EP_FLAG_INTERNAL) ? "reply_" : "ep_", ep->id,
             peer);
    stats->num_lanes = num_lanes;
    stats->record = ucs_stats_create(UCP_STATS_ENDPOINT, worker->stats->record,
                                     name);
    if (stats->record == NULL) {
        stats->record    = worker->stats->other_eps;
        stats->is_shared = 1;
    }
    for (i = 0; i < num_lanes; ++i) {
        attach_lane(ep, i, lanes[i]);
    }
    ucs_stats_add(worker->stats->record, UCP_STATS_EPS, 1);
}

void ucp_stats_ep_failed(ucp_ep_h ep)
{
    if (ep->worker->stats != NULL) {
        ucs_stats_add(ep->worker->stats->record, UCP_STATS_EPS_FAILED, 1);
    }
}

void ucp_stats_lane_lost(ucp_ep_h ep, unsigned lane, ucs_status_t status)
{
    ucp_ep_stats_t *stats = ucp_ep_stats(ep);

    if (stats != NULL) {
        ucs_stats_add(ep->worker->stats->record, UCP_STATS_LANES_LOST, 1);
        ucs_stats_end(stats->lanes[lane].record, status);
        stats->lanes[lane].record = NULL;
    }
}

void ucp_stats_ep_end(ucp_ep_h ep)
{
    ucp_ep_stats_t *stats = ucp_ep_stats(ep);
    ucs_status_t status   = (ep->fail_status == UCS_ERR_CANCELED) ?
                                UCS_OK :
                                ep->fail_status;
    unsigned i;

    if (ucs_likely(stats == NULL)) {
        return;
    }
    for (i = 0; i < stats->num_lanes; ++i) {
        ucs_stats_end(stats->lanes[i].record, status);
        free(stats->lanes[i].counting);
    }
    if (!stats->is_shared) {
        ucs_stats_end(stats->record, status);
    }
    free(stats);
    ep->extra->stats = NULL;
}

ucs_stats_record_t *ucp_stats_ep_record(const ucp_ep_stats_t *stats)
{
    return stats->record;
}

/* ------------------------------------------------------------ operations -- */

void ucp_stats_sent(ucp_ep_h ep, unsigned counter, size_t length)
{
    if (ucp_ep_stats(ep) != NULL) {
        ucs_stats_add_message(ucp_ep_stats(ep)->record, counter, length);
    }
}

void ucp_stats_retry(ucp_ep_h ep)
{
    if (ucp_ep_stats(ep) != NULL) {
        ucs_stats_add(ucp_ep_stats(ep)->record, UCP_STATS_RETRIES, 1);
    }
}

void ucp_stats_received(ucp_worker_h worker, unsigned counter, size_t length)
{
    if (worker->stats != NULL) {
        ucs_stats_add_message(worker->stats->record, counter, length);
    }
}
