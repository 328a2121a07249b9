/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the side of a stream (stream.h) that an endpoint or an OPEN message
 * belongs to, and sends and handles OPEN and CLOSE. */
#include "ucp/stream/desc.h"

#include "ucp/base/ids.h"
#include "ucp/order/queue.h"
#include "ucp/proto/ep.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"
#include "ucs/host/guid.h"

#include <stdlib.h>
#include <string.h>

static ucp_stream_worker_t *streams_of(const ucp_stream_t *stream)
{
    return ucp_worker_stream(stream->ep->worker);
}

static int is_same_end(const ucp_wire_end_t *a, const ucp_wire_end_t *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static uint64_t name_hash(const ucp_wire_end_t *name)
{
    return ucp_le64_get(name->worker_uuid) ^
           ucs_hash_mix64(ucp_le64_get(name->ep_id) + 1);
}

/* -------------------------------------------------------- sides by name -- */

/* Finds the side of a stream with this name. If `opened` is 0, the peer must
 * not have opened it; otherwise the side must have no endpoint (unclaimed). */
static ucp_stream_t *find(ucp_stream_worker_t *streams,
                          const ucp_wire_end_t *name, int opened)
{
    ucp_stream_t *stream = ucs_hash_get(&streams->by_name, name_hash(name));

    while ((stream != NULL) &&
           !(is_same_end(&stream->name, name) &&
             (opened ? (stream->ep == NULL) : (stream->peer_key == 0)))) {
        stream = stream->next;
    }
    return stream;
}

static ucs_status_t enter_name(ucp_stream_worker_t *streams,
                               ucp_stream_t *stream)
{
    uint64_t hash = name_hash(&stream->name);

    stream->next = ucs_hash_get(&streams->by_name, hash);
    return ucs_hash_set(&streams->by_name, hash, stream);
}

static void forget_name(ucp_stream_worker_t *streams, ucp_stream_t *stream)
{
    uint64_t hash       = name_hash(&stream->name);
    ucp_stream_t *first = ucs_hash_get(&streams->by_name, hash);
    ucp_stream_t **link = &first;

    while (*link != stream) {
        link = &(*link)->next;
    }
    *link = stream->next;
    if (first == NULL) {
        ucs_hash_del(&streams->by_name, hash);
    } else {
        /* replaces an existing entry, which needs no memory */
        ucs_hash_set(&streams->by_name, hash, first);
    }
}

/* ------------------------------------------------- creation and release -- */

static ucp_stream_t *make(ucp_stream_worker_t *streams,
                          const ucp_wire_end_t *name)
{
    ucp_stream_t *stream = calloc(1, sizeof(*stream));

    if (stream == NULL) {
        return NULL;
    }

    stream->name   = *name;
    stream->status = UCS_OK;
    ucs_list_head_init(&stream->posted);
    ucs_list_head_init(&stream->data);
    ucs_list_head_init(&stream->ready);
    ucs_list_head_init(&stream->link);
    if (enter_name(streams, stream) != UCS_OK) {
        free(stream);
        return NULL;
    }
    return stream;
}

/* Removes the peer's key from the table: later data with it is dropped. */
static void forget_key(ucp_stream_worker_t *streams, ucp_stream_t *stream)
{
    if ((stream->peer_key != 0) &&
        (ucs_hash_get(&streams->by_key, stream->peer_key) == stream)) {
        ucs_hash_del(&streams->by_key, stream->peer_key);
    }
}

static void destroy(ucp_stream_worker_t *streams, ucp_stream_t *stream)
{
    forget_key(streams, stream);
    forget_name(streams, stream);
    ucp_stream_data_drop(stream);
    ucs_list_del(&stream->ready);
    ucs_list_del(&stream->link);
    free(stream);
}

/* Assigns a side to an endpoint that has none. */
static void give(ucp_stream_t *stream, ucp_ep_h ep,
                 const ucp_wire_end_t *peer_name)
{
    ucs_list_del_init(&stream->link);
    stream->ep                = ep;
    stream->peer_name         = *peer_name;
    ucp_ep_stream(ep)->stream = stream;
    if (stream->available > 0) {
        ucs_list_add_tail(&streams_of(stream)->ready, &stream->ready);
    }
}

static ucs_status_t add(ucp_ep_h ep, const ucp_wire_end_t *name,
                        const ucp_wire_end_t *peer_name)
{
    ucp_stream_worker_t *streams = ucp_worker_stream(ep->worker);
    ucp_stream_t *stream         = find(streams, name, 1);

    if (stream == NULL) {
        stream = make(streams, name);
    }
    if (stream == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    give(stream, ep, peer_name);
    return UCS_OK;
}

static int is_wanted(ucp_ep_h ep)
{
    return (ep->worker->context->features & UCP_FEATURE_STREAM) != 0;
}

/* Counts an endpoint to worker `uuid`. *number_p: the count without it. */
static ucs_status_t next_number(ucp_stream_worker_t *streams, uint64_t uuid,
                                uint64_t *number_p)
{
    uintptr_t made = (uintptr_t)ucs_hash_get(&streams->numbers, uuid);

    *number_p = made;
    return ucs_hash_set(&streams->numbers, uuid, (void *)(made + 1));
}

/* Pairs `ep` with the peer's endpoint of the same number; within one worker, an
 * endpoint with an even number with the next one. */
static ucs_status_t add_numbered(ucp_ep_h ep)
{
    ucp_wire_end_t name, peer_name;
    ucs_status_t status;
    uint64_t number;

    status = next_number(ucp_worker_stream(ep->worker), ep->peer_uuid, &number);
    if (status != UCS_OK) {
        return status;
    }
    name = (ucp_wire_end_t){ucp_le64(ep->peer_uuid), ucp_le64(number)};
    number ^= (ep->peer_uuid == ep->worker->uuid);
    peer_name = (ucp_wire_end_t){ucp_le64(ep->worker->uuid), ucp_le64(number)};
    return add(ep, &name, &peer_name);
}

/* Returns the peer's endpoint to which `ep` replies; ep_id 0 if not known. */
static ucp_wire_end_t peer_end(ucp_ep_h ep)
{
    return (ucp_wire_end_t){ucp_le64(ep->peer_uuid), ucp_le64(ep->peer_ep_id)};
}

ucs_status_t ucp_stream_ep_add(ucp_ep_h ep, const ucp_ep_params_t *params)
{
    uint64_t mask   = params->field_mask;
    int no_loopback = (mask & UCP_EP_PARAM_FIELD_FLAGS) &&
                      (params->flags & UCP_EP_PARAMS_FLAGS_NO_LOOPBACK);
    ucp_wire_end_t name = ucp_ep_wire_end(ep);

    if (!is_wanted(ep)) {
        return UCS_OK;
    }
    if (mask & UCP_EP_PARAM_FIELD_CONN_REQUEST) {
        name = peer_end(ep);
    } else if (!(mask & UCP_EP_PARAM_FIELD_SOCK_ADDR) &&
               ((ep->peer_uuid != ep->worker->uuid) || no_loopback)) {
        return add_numbered(ep);
    }
    return add(ep, &name, &name);
}

/* Sets the side of an endpoint for replies: the unclaimed side that the peer
 * has opened, if there is one, otherwise a new side. */
static ucs_status_t add_reply(ucp_ep_h ep)
{
    ucp_stream_worker_t *streams = ucp_worker_stream(ep->worker);
    ucp_wire_end_t requester     = peer_end(ep);
    ucp_wire_end_t name          = ucp_ep_wire_end(ep);
    ucp_stream_t *stream;

    ucs_list_for_each(stream, &streams->unclaimed, link) {
        if (is_same_end(&stream->sender, &requester)) {
            give(stream, ep, &requester);
            return UCS_OK;
        }
    }
    return add(ep, &name, &requester);
}

ucp_stream_t *ucp_stream_of(ucp_ep_h ep, ucs_status_t *status_p)
{
    if (ucs_likely(ucp_ep_stream(ep)->stream != NULL)) {
        return ucp_ep_stream(ep)->stream;
    }
    if (!is_wanted(ep)) {
        ucs_error("the context was created without streams: add "
                  "UCP_FEATURE_STREAM to the features of ucp_init");
        *status_p = UCS_ERR_INVALID_PARAM;
        return NULL;
    }
    *status_p = (ep->flags & UCP_EP_FLAG_INTERNAL) ? add_reply(ep) :
                                                     UCS_ERR_UNSUPPORTED;
    return ucp_ep_stream(ep)->stream;
}

/* -------------------------------------------------- opening and closing -- */

static void fill_message(ucp_stream_t *stream, ucp_stream_open_t *message)
{
    while (stream->key == 0) {
        stream->key = ucs_generate_uuid(); /* random: has no byte order */
    }
    message->sender = ucp_ep_wire_end(stream->ep);
    message->name   = stream->peer_name;
    memcpy(&message->key, &stream->key, sizeof(message->key));
}

ucs_status_t ucp_stream_open(ucp_stream_t *stream)
{
    ucp_stream_open_t message;
    ucs_status_t status;

    if (stream->key != 0) {
        return UCS_OK;
    }

    fill_message(stream, &message);
    status = ucp_ep_send_control(stream->ep, UCP_AM_ID_STREAM_OPEN, &message,
                                 sizeof(message));
    if (status != UCS_OK) {
        stream->key = 0;
    }
    return status;
}

/* Finds the side for an OPEN message: that with the message's name, else that
 * of the local endpoint in the name, else that of the endpoint that replies to
 * the sender. NULL if there is none, or if the peer has opened it already. */
static ucp_stream_t *opened_end(ucp_worker_h worker,
                                const ucp_stream_open_t *message)
{
    ucp_stream_t *stream = find(ucp_worker_stream(worker), &message->name, 0);
    uint64_t ep_id       = ucp_le64_get(message->name.ep_id);
    ucp_ep_h ep          = NULL;

    if (stream != NULL) {
        return stream;
    }

    if (ucp_le64_get(message->name.worker_uuid) == worker->uuid) {
        ep = ucp_id_get(worker->ep_ids, (uint32_t)ep_id);
        if ((ep != NULL) && (ep->secret != (uint32_t)(ep_id >> 32))) {
            ep = NULL;
        }
    }
    if (ep == NULL) {
        ep = ucp_wireup_reply_ep(worker, &message->sender);
    }
    stream = (ep == NULL) ? NULL : ucp_ep_stream(ep)->stream;
    return ((stream != NULL) && (stream->peer_key == 0)) ? stream : NULL;
}

/* For a name that no endpoint has: true if an endpoint with this name existed
 * and was closed, so that the data would never be received. */
static int is_past(ucp_worker_h worker, const ucp_wire_end_t *name)
{
    uint64_t uuid  = ucp_le64_get(name->worker_uuid);
    uint64_t ep_id = ucp_le64_get(name->ep_id);

    if (ep_id > UINT32_MAX) {
        return uuid == worker->uuid;
    }
    return ep_id <
           (uintptr_t)ucs_hash_get(&ucp_worker_stream(worker)->numbers, uuid);
}

/* Creates an unclaimed side for an OPEN whose endpoint is not created yet. */
static ucp_stream_t *make_unclaimed(ucp_worker_h worker,
                                    const ucp_stream_open_t *message)
{
    ucp_stream_worker_t *streams = ucp_worker_stream(worker);
    ucp_stream_t *stream         = find(streams, &message->name, 1);

    if ((stream != NULL) || is_past(worker, &message->name)) {
        ucs_diag("dropped the opening of a stream by worker %lx: the endpoint"
                 " %s",
                 ucp_le64_get(message->sender.worker_uuid),
                 (stream != NULL) ? "has one already" : "was closed");
        return NULL;
    }

    do {
        stream = make(streams, &message->name);
    } while ((stream == NULL) && ucp_reserve_spend(worker));
    if (stream != NULL) {
        stream->sender = message->sender;
        ucs_list_add_tail(&streams->unclaimed, &stream->link);
    } else {
        ucp_worker_lost(worker, "the opening of a stream", sizeof(*message));
    }
    return stream;
}

static ucs_status_t enter_key(ucp_worker_h worker, uint64_t key,
                              ucp_stream_t *stream)
{
    ucs_status_t status;

    do {
        status = ucs_hash_put(&ucp_worker_stream(worker)->by_key, key, stream);
    } while ((status == UCS_ERR_NO_MEMORY) && ucp_reserve_spend(worker));
    return status;
}

/* Connects the sender of an OPEN message to the side of a local endpoint or, if
 * there is none yet, to a new unclaimed side. Returns NULL if both are
 * impossible. */
static ucp_stream_t *join(ucp_worker_h worker, const ucp_stream_open_t *message)
{
    uint64_t key = ucp_le64_get(message->key);
    ucp_stream_t *stream;

    if (!(worker->context->features & UCP_FEATURE_STREAM) || (key == 0)) {
        ucs_diag("dropped the opening of a stream by worker %lx: %s",
                 ucp_le64_get(message->sender.worker_uuid),
                 (key == 0) ? "no key" :
                              "UCP_FEATURE_STREAM is not enabled here");
        return NULL;
    }

    stream = opened_end(worker, message);
    if (stream == NULL) {
        stream = make_unclaimed(worker, message);
    }
    if (stream == NULL) {
        return NULL;
    }

    stream->peer_key = key;
    if ((stream->status == UCS_OK) &&
        (enter_key(worker, key, stream) != UCS_OK)) {
        ucs_error("lost a stream by worker %lx: out of memory",
                  ucp_le64_get(message->sender.worker_uuid));
        ucp_stream_end(stream, UCS_ERR_NO_MEMORY);
    }
    return stream;
}

/* Copies an arriving OPEN or CLOSE to `message` and returns the side that it is
 * for, or NULL. Opens the stream if its key is not known yet (*is_new). */
static ucp_stream_t *arrived(ucp_worker_h worker, const void *data,
                             size_t length, ucp_stream_open_t *message,
                             int *is_new)
{
    ucp_stream_t *stream;

    if (length != sizeof(*message)) {
        ucs_diag("dropped the opening of a stream of %zu bytes: wrong size",
                 length);
        return NULL;
    }

    ucp_wire_take(message, data, sizeof(*message));
    stream  = ucs_hash_get(&ucp_worker_stream(worker)->by_key,
                           ucp_le64_get(message->key));
    *is_new = (stream == NULL);
    return *is_new ? join(worker, message) : stream;
}

ucs_status_t ucp_stream_open_handler(void *arg, void *data, size_t length,
                                     unsigned flags)
{
    ucp_stream_open_t message;
    int is_new;

    if ((arrived(arg, data, length, &message, &is_new) != NULL) && !is_new) {
        ucs_diag("dropped the opening of a stream that is open");
    }
    return UCS_OK;
}

ucs_status_t ucp_stream_close_handler(void *arg, void *data, size_t length,
                                      unsigned flags)
{
    ucp_worker_h worker = arg;
    ucp_stream_open_t message;
    ucp_stream_t *stream;
    int is_new;

    stream = arrived(worker, data, length, &message, &is_new);
    if (stream != NULL) {
        forget_key(ucp_worker_stream(worker), stream);
        ucp_stream_end(stream, UCS_ERR_CONNECTION_RESET);
    }
    return UCS_OK;
}

/* Sends CLOSE if either side has opened the stream, even if no data was
 * sent. */
static void say_closed(ucp_stream_t *stream, int force)
{
    ucp_ep_h ep = stream->ep;
    ucp_stream_open_t message;

    if ((stream->key == 0) && (stream->peer_key == 0)) {
        return;
    }

    fill_message(stream, &message);
    if (force) {
        ucp_ep_send_urgent(ep, UCP_AM_ID_STREAM_CLOSE, &message,
                           sizeof(message));
    } else if (ucp_ep_send_in_order(ep, UCP_AM_ID_STREAM_CLOSE, &message,
                                    sizeof(message)) != UCS_OK) {
        ucs_debug("ep %p: cannot notify the peer of its stream's end", ep);
    }
}

void ucp_stream_ep_close(ucp_ep_h ep, int force)
{
    ucp_stream_t *stream = ucp_ep_stream(ep)->stream;

    if ((stream == NULL) || stream->closed) {
        return;
    }

    stream->closed = 1;
    forget_key(streams_of(stream), stream);
    ucs_list_del_init(&stream->ready);
    say_closed(stream, force);
    ucp_stream_end(stream, UCS_ERR_CANCELED);
    /* Frees the data now, because it may be in buffers of the transports, and
     * the endpoint may exist longer than these. */
    ucp_stream_data_drop(stream);
}

void ucp_stream_ep_end(ucp_ep_h ep, ucs_status_t status)
{
    if (ucp_ep_stream(ep)->stream != NULL) {
        ucp_stream_end(ucp_ep_stream(ep)->stream, status);
    }
}

void ucp_stream_ep_del(ucp_ep_h ep)
{
    ucp_stream_t *stream = ucp_ep_stream(ep)->stream;

    if (stream != NULL) {
        destroy(streams_of(stream), stream);
        ucp_ep_stream(ep)->stream = NULL;
    }
}

void ucp_stream_worker_release(ucp_worker_h worker)
{
    ucp_stream_worker_t *streams = ucp_worker_stream(worker);
    ucp_stream_desc_t *desc, *next;

    while (!ucs_list_is_empty(&streams->unclaimed)) {
        destroy(streams,
                ucs_list_head(&streams->unclaimed, ucp_stream_t, link));
    }
    ucs_list_for_each_safe(desc, next, &streams->held, link) {
        ucp_stream_data_free(ucp_stream_desc_rest(desc));
    }
}
