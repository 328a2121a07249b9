/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: wire-up, the exchange of messages by which two endpoints of UCP
 * connect their lanes (endpoints of transports), with a peer that violates the
 * protocol. An input is a list of steps. In a step a user connects, sends or
 * closes, or the peer sends a request for lanes, a reply, an acknowledgement or
 * a fragment of such a message. The peer's message may be valid or not, and is
 * passed directly to UCP's handler.
 *
 * Checked: nothing is sent over a lane that is not connected, and no object
 * remains after all endpoints are closed. make_corpus.py describes the bytes of
 * an input.
 */
#include <stdio.h>

#define FAKE_PAIRS_CHECK(_condition, _what) check(_condition, _what)

static void check(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "fuzz_wireup: %s\n", what);
        __builtin_abort();
    }
}

#include "../../unit/ucp/fake_pairs.h"

#include <ucx/am.h>

#include "ucp/wireup/introduce.h"
#include "ucp/wireup/fragments.h"
#include "ucp/wireup/records.h"
#include "ucp/wireup/state.h"

/* Limits: endpoints of the user at a time, steps of a run, bytes of arbitrary
 * data in a message, and bytes of a worker address. */
enum { NUM_EPS = 4, MAX_STEPS = 100, MAX_BYTES = 200, MAX_ADDRESS = 512 };

/* The rest of an input. */
typedef struct {
    const uint8_t *data;
    size_t left; /* Bytes that are not yet read */
} reader_t;

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h eps[NUM_EPS]; /* To the worker itself; NULL: not open */
static unsigned num_sends;    /* Sends of the user in this run */

static const ucp_request_param_t force = {
    .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
    .flags        = UCP_EP_CLOSE_FLAG_FORCE,
};
static const ucp_request_param_t none = {0};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads one byte; returns 0 at the end of the input. */
static unsigned next(reader_t *reader)
{
    if (reader->left == 0) {
        return 0;
    }
    --reader->left;
    return *reader->data++;
}

static void progress(unsigned count)
{
    for (; count > 0; --count) {
        ucp_worker_progress(worker);
    }
}

/* Progresses until three consecutive calls of progress return no event, but at
 * most 1000 times. */
static void settle(void)
{
    unsigned left, quiet = 0;

    for (left = 1000; (left > 0) && (quiet < 3); --left) {
        quiet = (ucp_worker_progress(worker) == 0) ? quiet + 1 : 0;
    }
}

/* ------------------------------------------------------------- the user -- */

/* Stores the worker's address; returns its length in bytes. */
static size_t own_address(char *bytes)
{
    ucp_address_t *address;
    size_t length;

    check(ucp_worker_get_address(worker, &address, &length) == UCS_OK,
          "no address");
    check(length <= MAX_ADDRESS, "a long address");
    memcpy(bytes, address, length);
    ucp_worker_release_address(worker, address);
    return length;
}

static void connect_slot(reader_t *reader)
{
    unsigned slot = next(reader) % NUM_EPS;
    char address[MAX_ADDRESS];
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
        .address    = (ucp_address_t *)address,
    };

    if (eps[slot] == NULL) {
        own_address(address);
        if (ucp_ep_create(worker, &params, &eps[slot]) != UCS_OK) {
            eps[slot] = NULL;
        }
    }
}

/* Frees a request, which may be outstanding. */
static void forget_request(void *request)
{
    if (UCS_PTR_IS_PTR(request)) {
        ucp_request_free(request);
    }
}

static void close_slot(unsigned slot, int by_force)
{
    if (eps[slot] != NULL) {
        forget_request(ucp_ep_close_nbx(eps[slot], by_force ? &force : &none));
        eps[slot] = NULL;
    }
}

static void close_some(reader_t *reader)
{
    unsigned what = next(reader);

    close_slot(what % NUM_EPS, what & 16);
}

static void send_some(reader_t *reader)
{
    static char buffer[10000];
    unsigned what = next(reader);
    ucp_ep_h ep   = eps[what % NUM_EPS];
    size_t length = (what & 16) ? sizeof(buffer) : 8;

    if ((ep == NULL) || (num_sends++ > 64)) {
        return;
    }
    forget_request((what & 32) ?
                       ucp_tag_send_sync_nbx(ep, buffer, length, 1, &none) :
                       ucp_tag_send_nbx(ep, buffer, length, 1, &none));
}

/* Simulates that a transport reports an error of one of the lanes of an
 * endpoint whose wire-up is not yet complete. */
static void fail_some(reader_t *reader)
{
    unsigned what = next(reader);
    ucp_ep_h ep   = eps[what % NUM_EPS];
    uct_iface_state_t *state;
    uct_ep_h uct;

    if ((ep == NULL) || (ucp_ep_wireup(ep)->handshake == NULL)) {
        return;
    }
    uct = (what & 16) ? ucp_ep_wireup(ep)->handshake->stubs[0].real :
                        ucp_ep_wireup(ep)->handshake->link.uct;
    if (uct != NULL) {
        state = uct_iface_state(uct->iface);
        state->err_handler(state->err_handler_arg, uct,
                           UCS_ERR_ENDPOINT_TIMEOUT);
    }
}

/* ------------------------------------------------------------- the peer -- */

/* Passes a message to its handler. */
static void say(uint8_t id, const void *data, size_t length)
{
    /* exactly the size of the message, so that a sanitizer detects a read
     * beyond its end */
    void *exact = malloc(length);

    memcpy(exact, data, length);
    check(ucx_iface_deliver_am(worker->ifaces[0].iface, id, exact,
                               (unsigned)length, 0) == UCS_OK,
          "a handler kept bytes that it does not own");
    free(exact);
}

/* Reads the id of an endpoint: that of an existing endpoint of the worker, such
 * an id with a changed bit, or an unknown id. The existing endpoints are those
 * of the user and those that the library has created. */
static ucp_wire_end_t next_end(reader_t *reader)
{
    unsigned what      = next(reader);
    ucp_wire_end_t end = {ucp_le64(77), ucp_le64(what % 8)};
    unsigned skip      = what / 4 % 8;
    ucp_ep_h ep;

    if (what & 128) {
        ucs_list_for_each(ep, &worker->eps, link) {
            end = ucp_ep_wire_end(ep);
            if (skip-- == 0) {
                break;
            }
        }
        if (what & 64) {
            end.ep_id.bytes[what % 8] ^= 1;
        }
    }
    return end;
}

/* Reads the description of a lane in a request or reply. */
static void next_record(reader_t *reader, ucp_wireup_record_t *record)
{
    static const uint8_t bytes[UINT8_MAX] = {0xe9, 0x03};
    unsigned odd                          = next(reader);

    record->lane            = (uint8_t)(next(reader) % 6);
    record->receiver_iface  = (odd & 1) ? (uint8_t)next(reader) : 1;
    record->sender_iface    = (odd & 2) ? (uint8_t)next(reader) : 1;
    record->dev_addr        = bytes;
    record->dev_addr_length = (odd & 4) ? (uint8_t)next(reader) : 0;
    record->ep_addr         = bytes;
    record->ep_addr_length  = (odd & 8) ? (uint8_t)next(reader) :
                                          (uint8_t)sizeof(uint64_t);
}

static void say_request(reader_t *reader)
{
    char message[UCP_WIREUP_MAX_HEAD + MAX_ADDRESS];
    ucp_wireup_request_t request = {.sender = next_end(reader)};
    unsigned damage              = next(reader);
    size_t length;
    unsigned i;

    request.flags     = (uint8_t)(damage >> 4);
    request.num_lanes = next(reader) % (UCP_MAX_LANES + 1);
    for (i = 0; i < request.num_lanes; ++i) {
        next_record(reader, &request.lanes[i]);
    }
    length = ucp_wireup_request_pack(&request, message);
    length += own_address(message + length);
    if (damage & 1) {
        message[(next(reader) * 4) % length] ^= (char)next(reader);
    }
    if (damage & 2) {
        length = next(reader) * 2 % (length + 1);
    }
    say(UCP_AM_ID_WIREUP_REQUEST, message, length);
}

static void say_reply(reader_t *reader)
{
    char message[UCP_WIREUP_MAX_HEAD];
    ucp_wireup_reply_t reply = {.requester = next_end(reader)};
    unsigned damage          = next(reader);
    size_t length;
    unsigned i;

    reply.sender = next_end(reader);
    reply.status = (damage & 4) ? (ucs_status_t)(int8_t)next(reader) : UCS_OK;
    reply.num_lanes = next(reader) % (UCP_MAX_LANES + 1);
    for (i = 0; i < reply.num_lanes; ++i) {
        next_record(reader, &reply.lanes[i]);
    }
    length = ucp_wireup_reply_pack(&reply, message);
    if (damage & 2) {
        length = next(reader) % (length + 1);
    }
    say(UCP_AM_ID_WIREUP_REPLY, message, length);
}

static void say_end(reader_t *reader)
{
    ucp_wire_end_t end = next_end(reader);
    unsigned what      = next(reader);

    say((what & 1) ? UCP_AM_ID_WIREUP_ACK : UCP_AM_ID_FAREWELL, &end,
        (what & 2) ? what % sizeof(end) : sizeof(end));
}

static void say_fragment(reader_t *reader)
{
    char message[sizeof(ucp_wireup_fragment_t) + MAX_BYTES];
    ucp_wireup_fragment_t fragment = {.sender = next_end(reader)};
    unsigned id                    = next(reader);
    size_t length, i;

    fragment.am_id  = (uint8_t)((id & 64) ? id :
                                            UCP_AM_ID_WIREUP_REQUEST + (id & 1));
    fragment.total  = ucp_le32(next(reader) | ((id & 32) ? 1u << 28 : 0));
    fragment.offset = ucp_le32(next(reader) | ((id & 16) ? 0xffffff00u : 0));
    length          = next(reader) % MAX_BYTES;
    memcpy(message, &fragment, sizeof(fragment));
    for (i = 0; i < length; ++i) {
        message[sizeof(fragment) + i] = (char)next(reader);
    }
    say(UCP_AM_ID_WIREUP_FRAGMENT, message, sizeof(fragment) + length);
}

static void say_bytes(reader_t *reader)
{
    char message[MAX_BYTES];
    uint8_t id    = (uint8_t)(UCP_AM_ID_WIREUP_FRAGMENT + next(reader) % 4);
    size_t length = next(reader) % MAX_BYTES, i;

    for (i = 0; i < length; ++i) {
        message[i] = (char)next(reader);
    }
    say(id, message, length);
}

/* ---------------------------------------------------- beginning and end -- */

static void open_context(void)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };

    setenv("UCX_TLS", "self", 1);
    setenv("UCX_PLUGIN_PATH", "", 1);
    setenv("UCX_LOG_LEVEL", "fatal", 0);
    setenv("UCX_SELF_QUEUE_LEN", "4", 1);
    check(ucp_init(&params, NULL, &context) == UCS_OK, "no context");
    context->resources = realloc(context->resources,
                                 2 * sizeof(*context->resources));
    check((context->resources != NULL) && (context->num_resources == 1),
          "no loopback");
    context->resources[1]  = context->resources[0];
    context->num_resources = 2;
}

static void step(reader_t *reader)
{
    static void (*const steps[])(reader_t * reader) = {
        connect_slot, close_some, send_some,    fail_some, say_request,
        say_reply,    say_end,    say_fragment, say_bytes,
    };
    unsigned what = next(reader) % 10;

    if (what == 9) {
        progress(1 + next(reader) % 8);
    } else {
        steps[what](reader);
    }
}

/* Returns nonzero if the endpoint, or the user's endpoint to which it replies,
 * is in the state of closing: a close waits for a flush, which the peer of this
 * run may never acknowledge. The library's half of a loopback endpoint remains
 * as long as that endpoint. */
static int is_closing(ucp_ep_h ep)
{
    ucp_wire_end_t end = {ucp_le64(ep->peer_uuid), ucp_le64(ep->peer_ep_id)};
    ucp_ep_h user      = ucp_wireup_reply_ep(worker, &end);

    return (ep->flags & UCP_EP_FLAG_CLOSING) ||
           ((ep->flags & UCP_EP_FLAG_INTERNAL) && (user != NULL) &&
            (user->flags & UCP_EP_FLAG_CLOSING));
}

/* Closes all endpoints of the user. For endpoints that the library has created,
 * delivers the message that their peer has closed. An endpoint that remains
 * after that must wait for the end of a close. */
static void end_orderly(void)
{
    ucp_wire_end_t end;
    ucp_ep_h ep, other;
    unsigned i;

    for (i = 0; i < NUM_EPS; ++i) {
        close_slot(i, 1);
    }
    settle();
    ucs_list_for_each_safe(ep, other, &worker->eps, link) {
        end.worker_uuid = ucp_le64(ep->peer_uuid);
        end.ep_id       = ucp_le64(ep->peer_ep_id);
        if ((ep->flags & UCP_EP_FLAG_INTERNAL) &&
            !(ep->flags & UCP_EP_FLAG_FAILED)) {
            say(UCP_AM_ID_FAREWELL, &end, sizeof(end));
        }
    }
    settle();
    ucs_list_for_each(ep, &worker->eps, link) {
        check(is_closing(ep), "an endpoint was left");
    }
    check(ucs_list_is_empty(&ucp_worker_wireup(worker)->rejections),
          "a rejection was left");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_FLAGS,
        .flags      = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK,
    };
    reader_t reader = {data, size};
    unsigned mode, i;

    if (context == NULL) {
        open_context();
    }
    check(ucp_worker_create(context, &params, &worker) == UCS_OK, "no worker");
    mode = next(&reader);
    play_pairs(worker, 1);
    play_aux(worker, 0);
    pairs.foreign                       = 1;
    pairs.fail_create                   = (mode & 2) ? mode / 16 : 0;
    pairs.fail_connect                  = (mode & 4) ? mode / 16 : 0;
    worker->ifaces[0].lane.am.max_bcopy = (mode & 8) ? 64 : 4096;
    num_sends                           = 0;
    memset(eps, 0, sizeof(eps));
    for (i = 0; (i < MAX_STEPS) && (reader.left > 0); ++i) {
        step(&reader);
    }
    if (!(mode & 1)) {
        end_orderly();
    }
    ucp_worker_destroy(worker);
    check(pairs.halves == NULL, "a transport's endpoint was left");
    return 0;
}
