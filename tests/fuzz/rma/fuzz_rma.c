/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: put, get, atomics, flush and fence that UCP emulates with
 * messages, with a peer that violates the protocol. An input is a list of
 * steps. A step is an operation of a user of UCP on memory of the same process,
 * or a message of the peer, which is passed directly to UCP's handler. The
 * message contains ids of existing requests and endpoints, or arbitrary ones.
 *
 * Checked: no access outside the user's memory, which has guard bytes on both
 * sides; no operation completes twice; every operation completes; and no object
 * remains at the end.
 */
#include "ucp/amo/amo.h"
#include "ucp/rma/rkey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LENT      = 9000, /* Bytes of memory that operations may access */
    GUARD     = 512,  /* Guard bytes on each side of this memory */
    NUM_OPS   = 40,   /* Maximum operations of the user in a run */
    MAX_STEPS = 120,  /* Maximum steps in a run */
    BUFFER    = 8192, /* Bytes of the buffer of each operation */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The rest of the input. */
static struct {
    const uint8_t *data;
    size_t left; /* Bytes that are not yet read */
} input;

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h ep; /* To the worker itself; NULL: closed */
static ucp_mem_h memh;
static ucp_rkey_h rkey;
static char memory[GUARD + LENT + GUARD] __attribute__((aligned(64)));
static struct {
    void *request; /* NULL: there is no request, or it was freed */
    int pending;   /* The operation is outstanding */
    char buffer[BUFFER];
} ops[NUM_OPS];
static unsigned num_ops;

/* Ends the program with a message unless the condition is true. */
static void check(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "fuzz_rma: %s\n", what);
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

/* Reads an index of the table, and returns the offset or length in bytes from
 * it: inside the memory, at its ends, or beyond it. */
static uint64_t next_size(void)
{
    static const uint64_t sizes[] = {0,    1,        4,       8,
                                     16,   300,      4000,    LENT - 8,
                                     LENT, LENT + 1, 1 << 20, UINT64_MAX - 7};

    return sizes[next() % (sizeof(sizes) / sizeof(sizes[0]))];
}

/* Returns the start of the memory that operations may access. */
static char *lent(void)
{
    return memory + GUARD;
}

/* ------------------------------------------------------------- the user -- */

static void on_end(void *request, ucs_status_t status, void *user_data)
{
    int *pending = user_data;

    check(*pending, "an operation completed twice");
    *pending = 0;
}

/* Starts an operation. what: 0: put; 1: get; 2: atomic; 3: flush of the
 * endpoint; 4: flush of the worker. */
static void post(unsigned what)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send = on_end,
    };
    uint64_t address = (uintptr_t)lent() + next_size();
    uint64_t length  = next_size() % BUFFER;
    unsigned op      = next();
    ucs_status_ptr_t ret;
    unsigned i;

    if ((num_ops == NUM_OPS) || (ep == NULL)) {
        return;
    }
    i               = num_ops++;
    param.user_data = &ops[i].pending;
    ops[i].pending  = 1;
    switch (what) {
    case 0:
        ret = ucp_put_nbx(ep, ops[i].buffer, length, address, rkey, &param);
        break;
    case 1:
        ret = ucp_get_nbx(ep, ops[i].buffer, length, address, rkey, &param);
        break;
    case 2:
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE |
                              ((op & 8) ? UCP_OP_ATTR_FIELD_REPLY_BUFFER : 0);
        param.datatype     = ucp_dt_make_contig((op & 16) ? 4 : 8);
        param.reply_buffer = ops[i].buffer + 8;
        ret = ucp_atomic_op_nbx(ep, op % UCP_ATOMIC_OP_LAST, ops[i].buffer, 1,
                                address, rkey, &param);
        break;
    case 3:
        ret = ucp_ep_flush_nbx(ep, &param);
        break;
    default:
        ret = ucp_worker_flush_nbx(worker, &param);
        break;
    }
    if (UCS_PTR_IS_PTR(ret)) {
        ops[i].request = ret;
    } else {
        check(ops[i].pending, "a callback ran for no request");
        ops[i].pending = 0;
    }
}

/* Frees the request of an operation. UCP does not call its callback then. */
static void free_op(void)
{
    unsigned i = next() % NUM_OPS;

    if ((i < num_ops) && (ops[i].request != NULL)) {
        ucp_request_free(ops[i].request);
        ops[i].request = NULL;
        ops[i].pending = 0;
    }
}

static void close_ep(void)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };

    if (ep != NULL) {
        check(ucp_ep_close_nbx(ep, &param) == NULL, "a forced close waits");
        ep = NULL;
    }
}

/* Maps the memory, so that keys for it exist. */
static void lend(void)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = lent(),
        .length  = LENT,
    };

    check(ucp_mem_map(context, &params, &memh) == UCS_OK, "no memory");
}

/* Unmaps the memory and maps it again: keys of the previous mapping, such as
 * `rkey`, become invalid. */
static void lend_anew(void)
{
    ucp_mem_unmap(context, memh);
    lend();
}

/* ------------------------------------------------------------- the peer -- */

static void deliver(uint8_t id, const void *message, size_t length)
{
    static const uct_am_callback_t handlers[UCP_AM_ID_LAST] = {
        [UCP_AM_ID_PUT]          = ucp_rma_put_handler,
        [UCP_AM_ID_GET]          = ucp_rma_get_handler,
        [UCP_AM_ID_GET_REPLY]    = ucp_rma_get_reply_handler,
        [UCP_AM_ID_ATOMIC]       = ucp_amo_handler,
        [UCP_AM_ID_ATOMIC_REPLY] = ucp_amo_reply_handler,
        [UCP_AM_ID_RMA_ACK]      = ucp_rma_ack_handler,
    };
    char *copy = malloc(length + (length == 0));

    /* the copy has exactly the size of the message, so that a sanitizer detects
     * a read beyond its end */
    memcpy(copy, message, length);
    handlers[id](worker, copy, length, 0);
    free(copy);
}

/* Reads the id of mapped memory: usually that of `memh`. */
static uint64_t next_key(void)
{
    return (next() % 4 == 0) ? next() : memh->id;
}

/* Reads the id of the endpoint that has sent a message: usually that of
 * `ep`. */
static ucp_wire_end_t next_sender(void)
{
    ucp_wire_end_t sender = {ucp_le64(worker->uuid), ucp_le64(next())};

    if ((ep != NULL) && (next() % 4 != 0)) {
        sender = ucp_ep_wire_end(ep);
    }
    return sender;
}

/* Reads the id of an outstanding request, or an arbitrary id. */
static uint32_t next_request(void)
{
    unsigned skip = next() % 8;
    ucp_request_t *req;

    if ((ep != NULL) && (skip != 7)) {
        ucs_list_for_each(req, &ep->awaited, ep_link) {
            if (skip-- == 0) {
                return req->id;
            }
        }
    }
    return next();
}

/* Reads the secret that a reply must contain: usually the valid one of `ep`,
 * otherwise 0. */
static ucp_rma_secret_t next_secret(void)
{
    return ucp_rma_secret(((ep != NULL) && (next() % 16 != 15)) ? ep->secret :
                                                                  0);
}

/* Reads the number of accesses that an acknowledgement reports as done. The
 * number is usually at least that of the previous acknowledgement (rma_done),
 * and at most one more than the number of accesses that UCP has issued. */
static uint32_t next_count(void)
{
    return ((ep != NULL) && (next() % 4 != 0)) ?
               ep->rma_done + next() % (ep->rma_issued - ep->rma_done + 2) :
               next();
}

/* Builds the message with the id ids[what] from the input, and delivers it. */
static void say(unsigned what)
{
    static const uint8_t ids[] = {
        UCP_AM_ID_PUT,    UCP_AM_ID_GET,          UCP_AM_ID_GET_REPLY,
        UCP_AM_ID_ATOMIC, UCP_AM_ID_ATOMIC_REPLY, UCP_AM_ID_RMA_ACK,
    };
    union {
        ucp_rma_put_t put;
        ucp_rma_get_t get;
        ucp_rma_get_reply_t get_reply;
        ucp_amo_t amo;
        ucp_amo_reply_t amo_reply;
        ucp_rma_ack_t ack;
        uint8_t bytes[10000];
    } m              = {.bytes = {0}};
    uint64_t address = (uintptr_t)lent() + next_size();
    size_t length    = 0;

    switch (ids[what]) {
    case UCP_AM_ID_PUT:
        m.put  = (ucp_rma_put_t){ucp_le64(next_key()), ucp_le64(address),
                                 next_sender()};
        length = sizeof(m.put) + next_size() % 9500;
        break;
    case UCP_AM_ID_GET:
        m.get  = (ucp_rma_get_t){ucp_le64(next_key()), ucp_le64(address),
                                 ucp_le64(next_size()), next_sender(),
                                 ucp_le32(next_request())};
        length = sizeof(m.get);
        break;
    case UCP_AM_ID_GET_REPLY:
        m.get_reply = (ucp_rma_get_reply_t){ucp_le32(next_request()),
                                            (int8_t)next(), next_secret()};
        length      = sizeof(m.get_reply) + next_size() % 9500;
        break;
    case UCP_AM_ID_ATOMIC:
        m.amo = (ucp_amo_t){
            ucp_le64(next_key()),  ucp_le64(address),
            ucp_le64(next()),      ucp_le64(next()),
            next_sender(),         ucp_le32(next_request()),
            (uint8_t)(next() % 7), (next() & 1) ? 8 : (uint8_t)next()};
        length = sizeof(m.amo);
        break;
    case UCP_AM_ID_ATOMIC_REPLY:
        m.amo_reply = (ucp_amo_reply_t){ucp_le32(next_request()),
                                        (int8_t)next(), next_secret(),
                                        ucp_le64(next())};
        length      = sizeof(m.amo_reply);
        break;
    default:
        m.ack  = (ucp_rma_ack_t){next_sender().ep_id, ucp_le32(next_count()),
                                 (int8_t)next()};
        length = sizeof(m.ack);
        break;
    }
    if (next() % 16 == 15) {
        length = (length > 0) ? next() % length : 0;
    }
    deliver(ids[what], &m, length);
}

/* ------------------------------------------------------------------ runs -- */

static void open_context(void)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64,
    };

    setenv("UCX_TLS", "self", 1);
    setenv("UCX_PLUGIN_PATH", "", 1);
    setenv("UCX_LOG_LEVEL", "fatal", 0);
    setenv("UCX_SELF_QUEUE_LEN", "4", 1);
    setenv("UCX_SELF_SEG_SIZE", "2k", 1);
    check(ucp_init(&params, NULL, &context) == UCS_OK, "no context");
}

/* Opens a worker and an endpoint to itself. The endpoint has no lane (endpoint
 * of a transport) for remote memory or atomics, so that UCP emulates these
 * operations with messages. */
static void open_all(void)
{
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_FLAGS,
        .flags      = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK,
    };
    ucp_worker_attr_t attr    = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t ep_params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    ucp_ep_config_t *config;
    size_t size;
    void *key;

    check(ucp_worker_create(context, &params, &worker) == UCS_OK, "no worker");
    check(ucp_worker_query(worker, &attr) == UCS_OK, "no address");
    ep_params.address = attr.address;
    check(ucp_ep_create(worker, &ep_params, &ep) == UCS_OK, "no endpoint");
    ucp_worker_release_address(worker, attr.address);
    config            = (ucp_ep_config_t *)ep->config;
    config->rma_lanes = 0;
    config->amo_lanes = 0;

    lend();
    check(ucp_memh_pack(memh, NULL, &key, &size) == UCS_OK, "no key");
    check(ucp_ep_rkey_unpack(ep, key, &rkey) == UCS_OK, "a bad key");
    ucp_memh_buffer_release(key, NULL);
}

static void step(void)
{
    unsigned what = next() % 20;
    unsigned i;

    if (what < 5) {
        post(what);
    } else if (what < 11) {
        say(what - 5);
    } else if (what < 15) {
        for (i = next() % 8; i > 0; --i) {
            ucp_worker_progress(worker);
        }
    } else if (what == 15) {
        ucp_worker_fence(worker);
    } else if (what == 16) {
        free_op();
    } else if (what == 17) {
        lend_anew();
    } else if (what == 18) {
        /* as after a put by lane 0: the next fence must wait for the lane */
        ep->remote_lanes |= 1;
    } else if (next() % 8 == 0) {
        close_ep();
    }
}

static void end_all(void)
{
    unsigned i;

    close_ep();
    for (i = 0; i < 40; ++i) {
        ucp_worker_progress(worker);
    }
    for (i = 0; i < num_ops; ++i) {
        check(!ops[i].pending, "an operation was lost");
        if (ops[i].request != NULL) {
            ucp_request_free(ops[i].request);
            ops[i].request = NULL;
        }
    }
    check(ucs_mpool_num_used(&worker->requests) == 0, "a request was left");
    ucp_rkey_destroy(rkey);
    ucp_mem_unmap(context, memh);
    ucp_worker_destroy(worker);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned i;

    if (context == NULL) {
        open_context();
    }
    input.data = data;
    input.left = size;
    num_ops    = 0;
    memset(memory, 'g', sizeof(memory));
    open_all();
    for (i = 0; (i < MAX_STEPS) && (input.left > 0) && (ep != NULL); ++i) {
        step();
    }
    end_all();
    for (i = 0; i < GUARD; ++i) {
        check((memory[i] == 'g') && (memory[GUARD + LENT + i] == 'g'),
              "memory beside that which was lent was touched");
    }
    return 0;
}
