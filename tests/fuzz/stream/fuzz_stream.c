/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: UCP's streams, with a peer that violates the protocol. An input
 * is a list of steps. A step is an operation of a user on endpoints to their
 * own worker, or a message of the peer, which is passed directly to UCP's
 * handler. The message contains keys of existing streams and ids of existing
 * endpoints, or arbitrary ones.
 *
 * Checked: no operation completes twice or receives more than was requested;
 * every operation completes; the state of each stream is consistent; and no
 * object remains.
 */
#include "ucp/proto/ep.h"
#include "ucp/stream/desc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucx/am.h>

/* Limits of a run: operations of the user, endpoints and pieces of received
 * data that the user holds at a time, and steps. */
enum { NUM_OPS = 40, NUM_EPS = 5, NUM_HELD = 8, MAX_STEPS = 150 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The rest of the input. */
static struct {
    const uint8_t *data;
    size_t left; /* Bytes that are not yet read */
} input;

/* An operation of the user. */
typedef struct {
    void *request;    /* NULL: there is no request, or it was freed */
    int pending;      /* The operation is outstanding */
    char *buffer;     /* Freed at the end of the run */
    size_t size;      /* Bytes in `buffer` */
    size_t elem_size; /* Bytes of an element of the datatype */
} op_t;

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h eps[NUM_EPS]; /* NULL: not open */
static op_t ops[NUM_OPS];
static unsigned num_ops;
/* Received data that the user has not yet released. */
static void *held[NUM_HELD]; /* NULL: none */

/* Ends the program with a message unless the condition is true. */
static void check(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "fuzz_stream: %s\n", what);
        abort();
    }
}

/* Reads one byte; returns 0 at the end of the input. */
static unsigned next(void)
{
    if (input.left == 0) {
        return 0;
    }
    --input.left;
    return *input.data++;
}

static size_t next_size(void)
{
    static const size_t sizes[] = {0,    1,    3,    8,    50,
                                   1000, 1024, 3000, 9000, 40000};

    return sizes[next() % (sizeof(sizes) / sizeof(sizes[0]))];
}

/* ------------------------------------------------------------- the user -- */

static void on_send(void *request, ucs_status_t status, void *user_data)
{
    op_t *op = user_data;

    check(op->pending, "an operation completed twice");
    op->pending = 0;
}

static void on_recv(void *request, ucs_status_t status, size_t length,
                    void *user_data)
{
    op_t *op = user_data;

    check(op->pending, "an operation completed twice");
    op->pending = 0;
    if (status == UCS_OK) {
        check(length <= op->size, "more was received than fits");
        check(length % op->elem_size == 0, "part of an element was received");
        check(length > 0, "nothing was received");
    }
}

/* Prepares an operation with a buffer of `size` bytes; returns its
 * parameters. */
static ucp_request_param_t begin(op_t *op, size_t size)
{
    *op        = (op_t){.size = size, .elem_size = 1, .pending = 1};
    op->buffer = malloc(size + (size == 0));
    memset(op->buffer, 's', size);
    return (ucp_request_param_t){
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA |
                        UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_FLAGS,
        .datatype  = ucp_dt_make_contig(1),
        .user_data = op,
    };
}

/* Records the result of the call that starts the operation. */
static void began(op_t *op, ucs_status_ptr_t ret)
{
    if (UCS_PTR_IS_PTR(ret)) {
        op->request = ret;
    } else {
        check(op->pending, "a callback ran for no request");
        op->pending = 0;
    }
}

static void post_send(ucp_ep_h ep)
{
    op_t *op = &ops[num_ops++];
    ucp_request_param_t param;

    param         = begin(op, next_size());
    param.cb.send = on_send;
    began(op, ucp_stream_send_nbx(ep, op->buffer, op->size, &param));
}

static void post_recv(ucp_ep_h ep)
{
    op_t *op      = &ops[num_ops++];
    unsigned how  = next();
    size_t length = SIZE_MAX;
    ucp_request_param_t param;
    ucs_status_ptr_t ret;

    param                = begin(op, next_size());
    param.cb.recv_stream = on_recv;
    param.flags          = how & UCP_STREAM_RECV_FLAG_WAITALL;
    if ((how & 2) && (op->size > 0)) {
        op->elem_size  = (op->size % 8 == 0) ? 8 : op->size;
        param.datatype = ucp_dt_make_contig(op->elem_size);
    }
    ret = ucp_stream_recv_nbx(ep, op->buffer, op->size / op->elem_size, &length,
                              &param);
    if (ret == NULL) {
        check((length <= op->size) && (length % op->elem_size == 0),
              "a wrong length was received");
    }
    began(op, ret);
}

/* Releases the data in a slot of `held`; if the slot is free, receives data of
 * the endpoint without a buffer, and holds it. */
static void take_data(ucp_ep_h ep)
{
    unsigned i = next() % NUM_HELD;
    size_t length;
    void *data;

    if (held[i] != NULL) {
        ucp_stream_data_release(eps[0], held[i]);
        held[i] = NULL;
        return;
    }
    data = ucp_stream_recv_data_nb(ep, &length);
    if (UCS_PTR_IS_PTR(data)) {
        check(length > 0, "no data was handed out");
        memset(data, 'h', length);
        held[i] = data;
    }
}

/* Cancels an operation, or frees the request of an operation that has ended. */
static void cancel_or_free(int cancel)
{
    op_t *op = &ops[next() % NUM_OPS];

    if ((op >= &ops[num_ops]) || (op->request == NULL)) {
        return;
    }
    if (cancel) {
        ucp_request_cancel(worker, op->request);
    } else if (!op->pending) {
        ucp_request_free(op->request);
        op->request = NULL;
    }
}

static void poll_ready(void)
{
    ucp_stream_poll_ep_t polls[3];
    ssize_t count = ucp_stream_worker_poll(worker, polls, next() % 4, 0);

    while (count-- > 0) {
        check(ucp_ep_stream(polls[count].ep)->stream->available > 0,
              "nothing is ready");
        check(polls[count].user_data == &eps, "polling tells wrong user data");
    }
}

static void make_ep(unsigned i)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_USER_DATA,
        .flags     = (i > 0) ? UCP_EP_PARAMS_FLAGS_NO_LOOPBACK : 0,
        .user_data = &eps,
    };

    check(ucp_worker_query(worker, &attr) == UCS_OK, "no address");
    params.address = attr.address;
    check(ucp_ep_create(worker, &params, &eps[i]) == UCS_OK, "no endpoint");
    ucp_worker_release_address(worker, attr.address);
}

static void close_ep(unsigned i, unsigned flags)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = flags,
    };
    ucs_status_ptr_t ret = ucp_ep_close_nbx(eps[i], &param);

    if (UCS_PTR_IS_PTR(ret)) {
        while (ucp_request_check_status(ret) == UCS_INPROGRESS) {
            ucp_worker_progress(worker);
        }
        ucp_request_free(ret);
    }
    eps[i] = NULL;
}

/* ------------------------------------------------------------- the peer -- */

/* A receive buffer of a transport. */
typedef struct {
    ucx_recv_desc_owner_t owner;
    void *word; /* ucx_recv_desc_set() stores the address of `owner` here,
                 * directly before `headroom` */
    char headroom[UCP_RX_HEADROOM];
    char message[];
} buffer_t;

static void buffer_free(ucx_recv_desc_owner_t *owner, void *desc)
{
    free(ucs_container_of(owner, buffer_t, owner));
}

/* Delivers a message in a buffer of exactly its size, so that a sanitizer
 * detects a read beyond its end. The input selects whether the handler may keep
 * the buffer (UCT_CB_PARAM_FLAG_DESC). */
static void deliver(uint8_t id, const void *message, size_t length)
{
    static const uct_am_callback_t handlers[UCP_AM_ID_LAST] = {
        [UCP_AM_ID_STREAM]       = ucp_stream_handler,
        [UCP_AM_ID_STREAM_OPEN]  = ucp_stream_open_handler,
        [UCP_AM_ID_STREAM_CLOSE] = ucp_stream_close_handler,
    };
    unsigned flags   = (next() & 1) ? UCT_CB_PARAM_FLAG_DESC : 0;
    buffer_t *buffer = malloc(sizeof(*buffer) + length);

    _Static_assert(offsetof(buffer_t, headroom) ==
                       offsetof(buffer_t, word) + sizeof(void *),
                   "layout");
    buffer->owner.release = buffer_free;
    ucx_recv_desc_set(buffer->headroom, &buffer->owner);
    memcpy(buffer->message, message, length);
    if (handlers[id](worker, buffer->message, length, flags) !=
        UCS_INPROGRESS) {
        free(buffer);
    } else {
        check(flags != 0, "a buffer was kept that may not be");
    }
}

/* Reads the key by which a message selects a stream: the key of an endpoint's
 * stream, the key of the peer's end of such a stream, or a small number. */
static ucp_le64_t next_key(void)
{
    unsigned what = next();
    ucp_ep_h ep   = eps[what % NUM_EPS];
    uint64_t key  = (what >> 4) & 3;
    ucp_le64_t field;

    if ((ep == NULL) || (what & 0x80)) {
        return ucp_le64(key);
    }
    if (what & 0x40) {
        return ucp_le64(ucp_ep_stream(ep)->stream->peer_key);
    }
    memcpy(&field, &ucp_ep_stream(ep)->stream->key, sizeof(field));
    return field;
}

/* Reads the id of an endpoint: that of an existing endpoint, the name of its
 * stream, or an id from the input. */
static ucp_wire_end_t next_end(void)
{
    unsigned what      = next();
    ucp_ep_h ep        = eps[what % NUM_EPS];
    ucp_wire_end_t end = {ucp_le64((what & 0x80) ? worker->uuid : what),
                          ucp_le64((what >> 3) & 7)};

    if ((ep == NULL) || (what & 0x40)) {
        return end;
    }
    return (what & 0x20) ? ucp_ep_stream(ep)->stream->name :
                           ucp_ep_wire_end(ep);
}

static void say_open_or_close(uint8_t id)
{
    ucp_stream_open_t message;
    unsigned cut = next();

    message.sender = next_end();
    message.name   = next_end();
    message.key    = next_key();
    deliver(id, &message,
            (cut < 200) ? sizeof(message) : cut % sizeof(message));
}

static void say_data(void)
{
    static char message[sizeof(ucp_stream_head_t) + 40000];
    ucp_le64_t key = next_key();
    size_t length  = sizeof(key) + next_size();

    memcpy(message, &key, sizeof(key));
    deliver(UCP_AM_ID_STREAM, message,
            (next() < 230) ? length : next() % sizeof(key));
}

/* ----------------------------------------------------------- the target -- */

/* Checks that the lists and counters of the stream are consistent. */
static void check_stream(ucp_stream_t *stream)
{
    size_t available = 0;
    ucp_stream_desc_t *desc;

    ucs_list_for_each(desc, &stream->data, link) {
        check(ucp_stream_desc_left(desc) > 0, "an empty chunk is kept");
        available += ucp_stream_desc_left(desc);
    }
    check(available == stream->available, "the data is counted wrong");
    check((available == 0) || ucs_list_is_empty(&stream->posted),
          "a receive waits beside data");
    check((stream->status == UCS_OK) || ucs_list_is_empty(&stream->posted),
          "a receive waits for a stream that has ended");
    check((available > 0) || ucs_list_is_empty(&stream->ready),
          "a stream without data is ready");
}

static void check_all(void)
{
    ucp_stream_t *stream;
    unsigned i;

    for (i = 0; i < NUM_EPS; ++i) {
        if (eps[i] != NULL) {
            check_stream(ucp_ep_stream(eps[i])->stream);
        }
    }
    ucs_list_for_each(stream, &ucp_worker_stream(worker)->unclaimed, link) {
        check_stream(stream);
    }
}

static void step(void)
{
    unsigned what = next() % 20;
    unsigned i    = next() % NUM_EPS;

    if (eps[i] == NULL) {
        make_ep(i);
    } else if ((what < 8) && (num_ops == NUM_OPS)) {
        cancel_or_free(what & 1);
    } else if (what < 4) {
        post_send(eps[i]);
    } else if (what < 8) {
        post_recv(eps[i]);
    } else if (what < 10) {
        take_data(eps[i]);
    } else if (what == 10) {
        cancel_or_free(1);
    } else if (what == 11) {
        cancel_or_free(0);
    } else if (what == 12) {
        poll_ready();
    } else if (what < 15) {
        for (i = next() % 8; i > 0; --i) {
            ucp_worker_progress(worker);
        }
    } else if (what == 15) {
        say_open_or_close(UCP_AM_ID_STREAM_OPEN);
    } else if (what < 18) {
        say_data();
    } else if (what == 18) {
        say_open_or_close(UCP_AM_ID_STREAM_CLOSE);
    } else if (i > 0) {
        close_ep(i, next() & UCP_EP_CLOSE_FLAG_FORCE);
    }
    check_all();
}

static void open_all(void)
{
    ucp_worker_params_t params = {.field_mask = 0};

    check(ucp_worker_create(context, &params, &worker) == UCS_OK, "no worker");
    make_ep(0);
}

static void end_all(void)
{
    unsigned i;

    for (i = 0; i < NUM_EPS; ++i) {
        if (eps[i] != NULL) {
            close_ep(i, UCP_EP_CLOSE_FLAG_FORCE);
        }
    }
    for (i = 0; i < 40; ++i) {
        ucp_worker_progress(worker);
    }
    for (i = 0; i < num_ops; ++i) {
        check(!ops[i].pending, "an operation was lost");
        if (ops[i].request != NULL) {
            ucp_request_free(ops[i].request);
        }
        free(ops[i].buffer);
    }
    check(ucs_mpool_num_used(&worker->requests) == 0, "a request was left");
    ucp_worker_destroy(worker);
    memset(held, 0, sizeof(held));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_STREAM,
    };
    unsigned i;

    if (context == NULL) {
        setenv("UCX_SELF_QUEUE_LEN", "6", 1);
        setenv("UCX_PLUGIN_PATH", "", 1);
        check(ucp_init(&params, NULL, &context) == UCS_OK, "no context");
    }
    input.data = data;
    input.left = size;
    num_ops    = 0;
    open_all();
    for (i = 0; (i < MAX_STEPS) && (input.left > 0); ++i) {
        step();
    }
    end_all();
    return 0;
}
