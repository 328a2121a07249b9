/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user of UCP in this fuzz target: endpoints, operations of every kind, and
 * callbacks that close endpoints, free requests and start operations.
 */
#include "run.h"

/* ------------------------------------------------- a generic datatype -- */

/* State of one packing or unpacking of contiguous bytes. Packing returns at
 * most 700 bytes at a time. Unpacking of exactly 77 bytes fails. */
typedef struct {
    char *buffer;
    size_t length;
} generic_t;

static void *generic_start(void *context, const void *buffer, size_t count)
{
    generic_t *state = malloc(sizeof(*state));

    state->buffer = (char *)buffer;
    state->length = count;
    return state;
}

static void *generic_start_unpack(void *context, void *buffer, size_t count)
{
    return generic_start(context, buffer, count);
}

static size_t generic_size(void *state)
{
    return ((generic_t *)state)->length;
}

static size_t generic_pack(void *arg, size_t offset, void *dest, size_t max)
{
    generic_t *state = arg;
    size_t length    = (max > 700) ? 700 : max;

    check(offset + length <= state->length, "packed beyond the end");
    memcpy(dest, state->buffer + offset, length);
    return length;
}

static ucs_status_t generic_unpack(void *arg, size_t offset, const void *src,
                                   size_t length)
{
    generic_t *state = arg;

    check(offset + length <= state->length, "unpacked beyond the end");
    memcpy(state->buffer + offset, src, length);
    return (length == 77) ? UCS_ERR_IO_ERROR : UCS_OK;
}

const ucp_generic_dt_ops_t fuzz_generic_ops = {
    generic_start, generic_start_unpack, generic_size,
    generic_pack,  generic_unpack,       free,
};

/* --------------------------------------- a lane that holds completions -- */

/* A put or get of the lane. The peer's messages determine the address, which
 * may be invalid, so the operation is not executed. The address selects the
 * result: the operation fails, is complete at once, or is outstanding until
 * fuzz_release_held(). */
static ucs_status_t hold(uint64_t remote_addr, uct_completion_t *comp)
{
    if ((fuzz.num_held == MAX_HELD) || (remote_addr % 11 == 5)) {
        return UCS_ERR_IO_ERROR;
    }
    if (remote_addr % 7 == 3) {
        return UCS_OK;
    }
    fuzz.held[fuzz.num_held++] = comp;
    return UCS_INPROGRESS;
}

static ucs_status_t hold_put(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp)
{
    return hold(remote_addr, comp);
}

static ucs_status_t hold_get(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp)
{
    return hold(remote_addr, comp);
}

void fuzz_release_held(ucs_status_t status)
{
    uct_completion_t *comp;

    while (fuzz.num_held > 0) {
        comp = fuzz.held[--fuzz.num_held];
        uct_completion_update_status(comp, status);
        if (--comp->count == 0) {
            comp->func(comp);
        }
    }
}

/* Replaces put and get of all lanes of the worker, including those of endpoints
 * that are created later. */
void fuzz_use_lane(void)
{
    ucp_worker_iface_t *wiface = &fuzz.worker->ifaces[0];

    check(fuzz.worker->num_ifaces == 1, "more than one interface");
    wiface->lane.md_flags |= UCT_MD_FLAG_NEED_RKEY;
    wiface->lane.put.max_zcopy = (fuzz.mode & MODE_PUT) ? 3000 : 0;
    wiface->lane.get.max_zcopy = (fuzz.mode & MODE_GET) ? 3000 : 0;
    fuzz.lane                  = *wiface->iface->ep_ops;
    fuzz.lane.put_zcopy        = hold_put;
    fuzz.lane.get_zcopy        = hold_get;
    wiface->iface->ep_ops      = &fuzz.lane;
}

/* ------------------------------------------------- the user's operations -- */

void fuzz_open_ep(unsigned slot)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
        .err_mode = (fuzz.mode & MODE_ERR_MODE) ? UCP_ERR_HANDLING_MODE_PEER :
                                                  UCP_ERR_HANDLING_MODE_NONE,
    };

    if (fuzz.eps[slot] != NULL) {
        return;
    }
    check(ucp_worker_query(fuzz.worker, &attr) == UCS_OK, "no address");
    params.address = attr.address;
    check(ucp_ep_create(fuzz.worker, &params, &fuzz.eps[slot]) == UCS_OK,
          "no endpoint");
    ucp_worker_release_address(fuzz.worker, attr.address);
}

/* Returns an unused operation, or NULL if the run already has NUM_OPS. */
static op_t *new_op(void)
{
    return (fuzz.num_ops < NUM_OPS) ? &fuzz.ops[fuzz.num_ops++] : NULL;
}

/* Records the result of a call that starts an operation. */
static void started(op_t *op, ucs_status_ptr_t result)
{
    if (UCS_PTR_IS_PTR(result)) {
        /* the callback may have run before the call returned, and may have
         * freed the request */
        op->pending = (op->calls == 0);
        op->request = (op->pending || (op->action != 2)) ? result : NULL;
        /* UCP need not call the callback of an operation that is started while
         * the worker is destroyed */
        op->pending = op->pending && !fuzz.ending;
    } else {
        check(op->calls == 0, "a call and an immediate completion");
    }
}

void fuzz_close_ep(unsigned slot, int by_force)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = by_force ? UCP_EP_CLOSE_FLAG_FORCE : 0,
    };
    ucp_ep_h ep = fuzz.eps[slot];
    ucs_status_ptr_t request;

    fuzz.eps[slot] = NULL;
    if (ep != NULL) {
        request = ucp_ep_close_nbx(ep, &param);
        if (UCS_PTR_IS_PTR(request)) {
            ucp_request_free(request);
        }
    }
}

static void post_send(unsigned slot, size_t size, ucp_tag_t tag, unsigned kind,
                      int action);
static void post_recv(size_t size, ucp_tag_t tag, unsigned kind, int action);

/* Does what the input has selected for the callback of this operation: 1: close
 * an endpoint by force; 2: free the request; 3: post a receive; 4: send; 5:
 * close an endpoint without force; other numbers: nothing. */
static void act(op_t *op)
{
    switch (op->action) {
    case 1:
        fuzz_close_ep((unsigned)(op - fuzz.ops) % NUM_EPS, 1);
        break;
    case 2:
        if (op->request != NULL) {
            ucp_request_free(op->request);
            op->request = NULL;
        }
        break;
    case 3:
        post_recv(2001, op->tag, 0, 2);
        break;
    case 4:
        post_send((unsigned)(op - fuzz.ops) % NUM_EPS, 100, op->tag, 0, 0);
        break;
    case 5:
        fuzz_close_ep((unsigned)(op - fuzz.ops) % NUM_EPS, 0);
        break;
    default:
        break;
    }
}

static void on_send(void *request, ucs_status_t status, void *user_data)
{
    op_t *op = user_data;

    check(op->calls++ == 0, "a send completed twice");
    op->pending = 0;
    if ((op->action == 2) && (op->request == NULL)) {
        /* the callback runs before the call that starts the operation has
         * returned the request */
        op->request = request;
    }
    act(op);
}

static void on_recv(void *request, ucs_status_t status,
                    const ucp_tag_recv_info_t *info, void *user_data)
{
    on_send(request, status, user_data);
}

/* Allocates the buffer of an operation and sets its parameters. `kind` % 4
 * selects the datatype: 1: a list of four entries; 2: generic; otherwise
 * contiguous. `kind` / 4 % 4 selects the flags of the operation. */
static void prepare(op_t *op, size_t size, unsigned kind,
                    ucp_request_param_t *param, void **buffer, size_t *count)
{
    static const uint32_t flags[] = {0, UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
                                     UCP_OP_ATTR_FLAG_FAST_CMPL,
                                     UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL};
    size_t i;

    op->buffer          = calloc(1, size);
    *buffer             = op->buffer;
    *count              = size;
    param->op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                          UCP_OP_ATTR_FIELD_USER_DATA | flags[(kind / 4) % 4];
    param->user_data = op;
    if (kind % 4 == 1) {
        op->iov = calloc(4, sizeof(*op->iov));
        param->op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
        param->datatype = ucp_dt_make_iov();
        *buffer         = op->iov;
        *count          = 4;
        for (i = 0; i < 4; ++i) {
            op->iov[i].buffer = (char *)op->buffer + size / 4 * i;
            op->iov[i].length = (i < 3) ? size / 4 : size - size / 4 * 3;
        }
    } else if (kind % 4 == 2) {
        param->op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
        param->datatype = fuzz.generic;
    }
}

/* Posts a tagged receive. `kind` & 64: it accepts the tags with the same lowest
 * bit; otherwise only this tag. */
static void post_recv(size_t size, ucp_tag_t tag, unsigned kind, int action)
{
    ucp_request_param_t param;
    op_t *op = new_op();
    void *buffer;
    size_t count;

    if (op == NULL) {
        return;
    }
    op->action  = action;
    op->tag     = tag;
    op->receive = 1;
    prepare(op, size, kind, &param, &buffer, &count);
    param.cb.recv = on_recv;
    started(op, ucp_tag_recv_nbx(fuzz.worker, buffer, count, tag,
                                 (kind & 64) ? 1 : UINT64_MAX, &param));
}

/* Sends a tagged message over the endpoint eps[slot]. `kind` & 64: a
 * synchronous send. */
static void post_send(unsigned slot, size_t size, ucp_tag_t tag, unsigned kind,
                      int action)
{
    ucp_request_param_t param;
    ucs_status_ptr_t result;
    void *buffer;
    size_t count;
    op_t *op;

    if ((fuzz.eps[slot] == NULL) || ((op = new_op()) == NULL)) {
        return;
    }
    op->action = action;
    op->tag    = tag;
    prepare(op, size, kind, &param, &buffer, &count);
    param.cb.send = on_send;
    if (kind & 64) {
        result = ucp_tag_send_sync_nbx(fuzz.eps[slot], buffer, count, tag,
                                       &param);
    } else {
        result = ucp_tag_send_nbx(fuzz.eps[slot], buffer, count, tag, &param);
    }
    started(op, result);
}

void fuzz_post_am(reader_t *reader)
{
    static const size_t header_lengths[] = {0, 1, 40, 1000, 3904, 3905};
    static char header[4096];
    unsigned slot        = next(reader);
    size_t size          = next_size(reader);
    unsigned kind        = next(reader);
    unsigned choice      = next(reader);
    ucp_ep_h ep          = fuzz.eps[slot % NUM_EPS];
    unsigned id          = slot / 4 % 5;
    size_t header_length = header_lengths[choice / 16 % 6];
    ucp_request_param_t param;
    ucs_status_ptr_t result;
    void *buffer;
    size_t count;
    op_t *op;

    if ((ep == NULL) || ((op = new_op()) == NULL)) {
        return;
    }
    op->action = (int)(slot / 32 % 8);
    prepare(op, size, kind, &param, &buffer, &count);
    param.cb.send = on_send;
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = choice % 16;
    result      = ucp_am_send_nbx(ep, id, header, header_length, buffer, count,
                                  &param);
    started(op, result);
}

void fuzz_send_reply(ucp_ep_h ep)
{
    static const ucp_request_param_t none = {0};
    ucs_status_ptr_t request;

    request = ucp_am_send_nbx(ep, 0, NULL, 0, "", 1, &none);
    if (UCS_PTR_IS_PTR(request)) {
        ucp_request_free(request);
    }
}

static void on_fetched(void *request, ucs_status_t status, size_t length,
                       void *user_data)
{
    on_send(request, status, user_data);
}

int fuzz_fetch(void *data, size_t size, unsigned kind)
{
    ucp_request_param_t param;
    op_t *op = new_op();
    void *buffer;
    size_t count;

    if (op == NULL) {
        return 0;
    }
    op->receive = 1;
    prepare(op, size, kind, &param, &buffer, &count);
    param.cb.recv_am = on_fetched;
    started(op, ucp_am_recv_data_nbx(fuzz.worker, data, buffer, count, &param));
    return 1;
}

void fuzz_post_flush(reader_t *reader)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send = on_send,
    };
    unsigned slot = next(reader);
    ucp_ep_h ep   = fuzz.eps[slot % NUM_EPS];
    op_t *op      = new_op();

    if (op == NULL) {
        return;
    }
    op->action      = (int)(slot / 4 % 8);
    param.user_data = op;
    started(op, (ep != NULL) ? ucp_ep_flush_nbx(ep, &param) :
                               ucp_worker_flush_nbx(fuzz.worker, &param));
}

void fuzz_post_recv(reader_t *reader)
{
    size_t size   = next_size(reader);
    unsigned kind = next(reader);
    unsigned slot = next(reader);

    post_recv(size, slot % 4, kind, (int)(slot / 4 % 8));
}

void fuzz_post_send(reader_t *reader)
{
    unsigned slot = next(reader);
    size_t size   = next_size(reader);
    unsigned kind = next(reader);

    post_send(slot % NUM_EPS, size, slot / 4 % 4, kind, (int)(slot / 16 % 8));
}

void fuzz_probe(reader_t *reader)
{
    ucp_request_param_t none = {0};
    static char buffer[20000];
    ucp_tag_recv_info_t info;
    ucp_tag_message_h message;
    ucs_status_ptr_t request;

    message = ucp_tag_probe_nb(fuzz.worker, next(reader) % 4, 1, 1, &info);
    if (message != NULL) {
        request = ucp_tag_msg_recv_nbx(fuzz.worker, buffer, next_size(reader),
                                       message, &none);
        if (UCS_PTR_IS_PTR(request)) {
            ucp_request_free(request);
        }
    }
}

void fuzz_touch_op(reader_t *reader, int cancel)
{
    op_t *op = &fuzz.ops[next(reader) % NUM_OPS];

    if (op->request == NULL) {
        return;
    }
    if (cancel) {
        ucp_request_cancel(fuzz.worker, op->request);
    } else {
        ucp_request_free(op->request);
        op->request = NULL;
        op->pending = 0; /* UCP does not call the callback of a freed request */
    }
}

void fuzz_progress(unsigned count)
{
    while (count-- > 0) {
        ucp_worker_progress(fuzz.worker);
    }
}
