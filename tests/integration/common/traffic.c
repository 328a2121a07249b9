/* SPDX-License-Identifier: BSD-3-Clause */
/* See traffic.h. */
#include "traffic.h"

#include <stdlib.h>
#include <string.h>

enum { AM_ID = 7, CONSTANT = TRAFFIC_MEMORY / 2 };

static const uint64_t MEMORY_NUMBER = 0x6d656d;

/* ------------------------------------------------------------ completion -- */

static void verify(struct traffic_op *op)
{
    if (op->op.status == UCS_OK) {
        data_verify(op->buffer, op->length, op->number);
    }
}

static void on_sent(void *request, ucs_status_t status, void *arg)
{
    struct traffic_op *op = arg;

    EXPECT(!op->op.done);
    op->op.done   = true;
    op->op.status = status;
    if (op->number != 0) {
        verify(op); /* a send's buffer is unchanged, a get's data has arrived */
    }
    ucp_request_free(request);
}

static void on_tag(void *request, ucs_status_t status,
                   const ucp_tag_recv_info_t *info, void *arg)
{
    struct traffic_op *op = arg;

    EXPECT(!op->op.done);
    op->op.done   = true;
    op->op.status = status;
    op->number    = info->sender_tag;
    op->length    = info->length;
    verify(op);
    op->owner->tags_received += (status == UCS_OK);
    ucp_request_free(request);
}

static void on_am_data(void *request, ucs_status_t status, size_t length,
                       void *arg)
{
    struct traffic_op *op = arg;

    EXPECT(!op->op.done);
    op->op.done   = true;
    op->op.status = status;
    op->length    = length;
    verify(op);
    ucp_request_free(request);
}

static struct traffic_op *free_op(struct traffic_op *ops)
{
    int i;

    for (i = 0; i < TRAFFIC_OPS; ++i) {
        if (ops[i].op.done) {
            ops[i].op.done = false;
            return &ops[i];
        }
    }
    return NULL;
}

static void take(struct traffic_op *op, ucs_status_ptr_t result)
{
    op->op.request = result;
    if (!UCS_PTR_IS_PTR(result)) {
        op->op.done   = true;
        op->op.status = UCS_PTR_STATUS(result);
    }
}

/* Handler of active messages. The header contains the number by which the data
 * was filled. */
static ucs_status_t on_am(void *arg, const void *header, size_t header_length,
                          void *data, size_t length,
                          const ucp_am_recv_param_t *am)
{
    struct traffic *traffic   = arg;
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA |
                        UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
        .cb.recv_am = on_am_data,
    };
    struct traffic_op *op;
    uint64_t number;

    EXPECT_INT(header_length, ==, sizeof(number));
    memcpy(&number, header, sizeof(number));
    if (!(am->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)) {
        data_verify(data, length, number);
        return UCS_OK;
    }

    op = traffic->quiet ? NULL : free_op(traffic->receives);
    if (op == NULL) {
        return UCS_OK; /* the message is dropped, but its send succeeds */
    }
    op->number      = number;
    op->length      = length;
    param.user_data = op;
    take(op, ucp_am_recv_data_nbx(traffic->side->worker, data, op->buffer,
                                  TRAFFIC_LARGE, &param));
    return UCS_INPROGRESS;
}

/* --------------------------------------------------------------- opening -- */

static void open_memory(struct traffic *traffic)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .length = TRAFFIC_MEMORY,
        .flags  = UCP_MEM_MAP_ALLOCATE,
    };
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};

    EXPECT_OK(ucp_mem_map(traffic->side->context, &params, &traffic->memh));
    EXPECT_OK(ucp_mem_query(traffic->memh, &attr));
    traffic->memory = attr.address;
    memset(traffic->memory, 0, TRAFFIC_MEMORY);
    data_fill(traffic->memory, CONSTANT, MEMORY_NUMBER);
}

void traffic_open(struct traffic *traffic, struct side *side, uint64_t seed)
{
    int i;

    memset(traffic, 0, sizeof(*traffic));
    traffic->side   = side;
    traffic->random = (struct random){seed | 1};
    for (i = 0; i < TRAFFIC_OPS; ++i) {
        traffic->sends[i].buffer    = malloc(TRAFFIC_LARGE);
        traffic->receives[i].buffer = malloc(TRAFFIC_LARGE);
        EXPECT((traffic->sends[i].buffer != NULL) &&
               (traffic->receives[i].buffer != NULL));
        traffic->sends[i].owner       = traffic;
        traffic->receives[i].owner    = traffic;
        traffic->receives[i].receives = true;
        traffic->sends[i].op.done     = true;
        traffic->receives[i].op.done  = true;
    }
    open_memory(traffic);
}

void traffic_close(struct traffic *traffic)
{
    int i;

    for (i = 0; i < TRAFFIC_OPS; ++i) {
        free(traffic->sends[i].buffer);
        free(traffic->receives[i].buffer);
    }
    EXPECT_OK(ucp_mem_unmap(traffic->side->context, traffic->memh));
}

static void put_key(struct traffic *traffic, struct team *team, int rank)
{
    uint64_t address = (uintptr_t)traffic->memory;
    void *buffer;
    size_t size;

    EXPECT_OK(
        ucp_rkey_pack(traffic->side->context, traffic->memh, &buffer, &size));
    team_put(team, rank, &address, sizeof(address));
    team_put(team, rank, &size, sizeof(size));
    team_put(team, rank, buffer, size);
    ucp_rkey_buffer_release(buffer);
}

static void get_key(struct traffic *traffic, struct team *team, int rank)
{
    char buffer[4096];
    size_t size;

    team_get(team, rank, &traffic->remote, sizeof(traffic->remote));
    team_get(team, rank, &size, sizeof(size));
    EXPECT_INT(size, <=, sizeof(buffer));
    team_get(team, rank, buffer, size);
    traffic->rkey = NULL;
    if (traffic->ep != NULL) {
        EXPECT_OK(ucp_ep_rkey_unpack(traffic->ep->ep, buffer, &traffic->rkey));
    }
}

void traffic_meet(struct traffic *traffic, struct side *side, struct team *team,
                  int rank)
{
    ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id  = AM_ID,
        .cb  = on_am,
        .arg = traffic,
    };
    void *address;

    traffic->side          = side;
    traffic->quiet         = false;
    traffic->tags_sent     = 0;
    traffic->tags_received = 0;
    EXPECT_OK(ucp_worker_set_am_recv_handler(side->worker, &handler));
    side_put_address(side, team, rank);
    address     = side_get_address(team, rank);
    traffic->ep = side_try_connect(side, address);
    free(address);
    put_key(traffic, team, rank);
    get_key(traffic, team, rank);
}

void traffic_drop_key(struct traffic *traffic)
{
    if (traffic->rkey != NULL) {
        ucp_rkey_destroy(traffic->rkey);
        traffic->rkey = NULL;
    }
}

/* ------------------------------------------------------------ operations -- */

/* Returns a random length between 1 and `most`, on a logarithmic scale. */
static size_t any_length(struct random *random, size_t most)
{
    size_t length = 1 +
                    random_below(random, (size_t)1 << random_below(random, 18));

    return (length < most) ? length : most;
}

static ucp_request_param_t send_param(struct traffic_op *op)
{
    return (ucp_request_param_t){
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send   = on_sent,
        .user_data = op,
    };
}

static void fill(struct traffic *traffic, struct traffic_op *op, size_t most)
{
    op->number = 1 + (random_next(&traffic->random) >> 32);
    op->length = any_length(&traffic->random, most);
    data_fill(op->buffer, op->length, op->number);
}

static void start_tag(struct traffic *traffic, struct traffic_op *op)
{
    ucp_request_param_t param = send_param(op);

    fill(traffic, op, TRAFFIC_LARGE);
    ++traffic->tags_sent;
    if (random_below(&traffic->random, 8) == 0) {
        take(op, ucp_tag_send_sync_nbx(traffic->ep->ep, op->buffer, op->length,
                                       op->number, &param));
    } else {
        take(op, ucp_tag_send_nbx(traffic->ep->ep, op->buffer, op->length,
                                  op->number, &param));
    }
}

static void start_am(struct traffic *traffic, struct traffic_op *op)
{
    ucp_request_param_t param = send_param(op);

    fill(traffic, op, TRAFFIC_LARGE);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_AM_SEND_FLAG_COPY_HEADER;
    take(op,
         ucp_am_send_nbx(traffic->ep->ep, AM_ID, &op->number,
                         sizeof(op->number), op->buffer, op->length, &param));
}

static void start_put(struct traffic *traffic, struct traffic_op *op)
{
    ucp_request_param_t param = send_param(op);

    fill(traffic, op, CONSTANT - sizeof(uint64_t));
    take(op, ucp_put_nbx(traffic->ep->ep, op->buffer, op->length,
                         traffic->remote + CONSTANT, traffic->rkey, &param));
}

static void start_get(struct traffic *traffic, struct traffic_op *op)
{
    ucp_request_param_t param = send_param(op);

    op->number = MEMORY_NUMBER;
    op->length = any_length(&traffic->random, CONSTANT);
    take(op, ucp_get_nbx(traffic->ep->ep, op->buffer, op->length,
                         traffic->remote, traffic->rkey, &param));
}

static void start_atomic(struct traffic *traffic, struct traffic_op *op)
{
    static const uint64_t one = 1;
    ucp_request_param_t param = send_param(op);

    op->number = 0; /* no verification */
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE |
                          UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    param.datatype     = ucp_dt_make_contig(sizeof(one));
    param.reply_buffer = &op->old;
    take(op, ucp_atomic_op_nbx(traffic->ep->ep, UCP_ATOMIC_OP_ADD, &one, 1,
                               traffic->remote + TRAFFIC_MEMORY - sizeof(one),
                               traffic->rkey, &param));
}

static void start_flush(struct traffic *traffic, struct traffic_op *op)
{
    ucp_request_param_t param = send_param(op);

    op->number = 0;
    take(op, ucp_ep_flush_nbx(traffic->ep->ep, &param));
}

static void start_any(struct traffic *traffic, struct traffic_op *op)
{
    static void (*const kinds[])(struct traffic *, struct traffic_op *) = {
        start_tag, start_tag, start_am,     start_am,
        start_put, start_get, start_atomic, start_flush,
    };

    kinds[random_below(&traffic->random, 8)](traffic, op);
}

static void post_receive(struct traffic *traffic, struct traffic_op *op)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA |
                        UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
        .cb.recv   = on_tag,
        .user_data = op,
    };

    take(op, ucp_tag_recv_nbx(traffic->side->worker, op->buffer, TRAFFIC_LARGE,
                              0, 0, &param));
}

void traffic_step(struct traffic *traffic, bool send)
{
    struct traffic_op *op;
    int i;

    /* only half of the entries: active messages need the others */
    if (!traffic->quiet && (traffic_open_receives(traffic) < TRAFFIC_OPS / 2)) {
        post_receive(traffic, free_op(traffic->receives));
    }
    for (i = 0; send && (i < 4); ++i) {
        op = free_op(traffic->sends);
        if (op != NULL) {
            start_any(traffic, op);
        }
    }
    side_progress(traffic->side);
}

/* --------------------------------------------------------------- closing -- */

static unsigned count_open(const struct traffic_op *ops)
{
    unsigned count = 0;
    int i;

    for (i = 0; i < TRAFFIC_OPS; ++i) {
        count += !ops[i].op.done;
    }
    return count;
}

unsigned traffic_open_sends(const struct traffic *traffic)
{
    return count_open(traffic->sends);
}

unsigned traffic_open_receives(const struct traffic *traffic)
{
    return count_open(traffic->receives);
}

unsigned traffic_finish_sends(struct traffic *traffic, double seconds)
{
    double end = test_now() + test_seconds(seconds);

    while ((traffic_open_sends(traffic) > 0) && (test_now() < end)) {
        traffic_step(traffic, false);
    }
    return traffic_open_sends(traffic);
}

unsigned traffic_cancel_receives(struct traffic *traffic)
{
    int i;

    traffic->quiet = true;
    for (i = 0; i < TRAFFIC_OPS; ++i) {
        if (!traffic->receives[i].op.done) {
            ucp_request_cancel(traffic->side->worker,
                               traffic->receives[i].op.request);
        }
    }
    return traffic_open_receives(traffic);
}
