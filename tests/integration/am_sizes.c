/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * am: active messages of 19 sizes, with headers of 5 lengths, arrive complete.
 * Their data is verified in the handler, received into memory of every layout,
 * or released; the receiver replies by the reply endpoint if the sender asks
 * for it. Then the sender closes while the receiver still holds data.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MESSAGE    = 3, /* Ids of handlers */
    PERSISTENT = 4,
    ANSWER     = 65535,
    MAX_SIZE   = (1 << 20) + 1,
    PIECES     = 50,
};

static const size_t sizes[] = {
    0,    1,    7,     8,     9,     63,    64,     255,     1000,     4095,
    8192, 8193, 30000, 65535, 65536, 65537, 200000, 1 << 20, MAX_SIZE,
};

enum { NUM_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

/* What the receiver does with data that it may keep, which is persistent data
 * or that of a rendezvous. In the handler, it starts to receive the data into a
 * contiguous buffer. After the handler, it receives the data into a contiguous
 * buffer, an IOV list or a generic datatype, or releases it. The handler
 * verifies all other data. The sender's buffer has the same layout. */
enum take { IN_HANDLER, CONTIG, IOV, GENERIC, RELEASE, NUM_TAKES };

/* Describes a message; both members compute it. */
struct order {
    /* The number by which data_fill() fills the data; number + 1: the header */
    uint64_t number;
    uint32_t size;
    uint32_t header;
};

struct exchange {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    size_t max_header;
    char *header, *buffer;
    struct order now; /* The message in flight; the receiver verifies it */
    enum take take;
    unsigned handled, expected, answers;
    /* Data or rendezvous descriptor that the handler kept; NULL: none */
    void *kept;
    size_t kept_length;
    bool fetching;            /* The handler has started to receive the data */
    ucs_status_ptr_t request; /* of that receive */
    ucp_ep_h reply_ep;
};

static void fetch(struct exchange *exchange, void *data, size_t length)
{
    static const ucp_request_param_t none = {0};

    memset(exchange->buffer, 0, length);
    exchange->fetching    = true;
    exchange->kept_length = length;
    exchange->request     = ucp_am_recv_data_nbx(exchange->side.worker, data,
                                                 exchange->buffer, length, &none);
}

static ucs_status_t on_message(void *arg, const void *header, size_t length_h,
                               void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    struct exchange *exchange = arg;
    const uint64_t keepable   = UCP_AM_RECV_ATTR_FLAG_DATA |
                              UCP_AM_RECV_ATTR_FLAG_RNDV;

    EXPECT_INT(length_h, ==, exchange->now.header);
    EXPECT_INT(length, ==, exchange->now.size);
    data_verify(header, length_h, exchange->now.number + 1);
    if (!(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)) {
        data_verify(data, length, exchange->now.number);
    }
    EXPECT((param->recv_attr & keepable) != keepable);
    exchange->reply_ep = (param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) ?
                             param->reply_ep :
                             NULL;
    ++exchange->handled;
    if (!(param->recv_attr & keepable)) {
        return UCS_OK;
    }
    if (exchange->take == IN_HANDLER) {
        fetch(exchange, data, length);
        return UCS_INPROGRESS;
    }
    exchange->kept        = data;
    exchange->kept_length = length;
    return UCS_INPROGRESS;
}

static ucs_status_t on_answer(void *arg, const void *header, size_t length_h,
                              void *data, size_t length,
                              const ucp_am_recv_param_t *param)
{
    struct exchange *exchange = arg;

    (void)header;
    (void)param;
    EXPECT_INT(length_h, ==, 0);
    EXPECT_INT(length, ==, sizeof(uint64_t));
    EXPECT(memcmp(data, &exchange->now.number, sizeof(uint64_t)) == 0);
    ++exchange->answers;
    return UCS_OK;
}

static void set_handler(struct exchange *exchange, unsigned id, uint32_t flags,
                        ucp_am_recv_callback_t cb)
{
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id    = id,
        .flags = flags,
        .cb    = cb,
        .arg   = exchange,
    };

    EXPECT_OK(ucp_worker_set_am_recv_handler(exchange->side.worker, &param));
}

/* ------------------------------------------------------------- datatypes -- */

static struct {
    size_t length;
    unsigned started, finished;
} generic;

static void *start_pack(void *context, const void *buffer, size_t count)
{
    (void)context;
    (void)count;
    ++generic.started;
    return (void *)buffer;
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
    return start_pack(context, buffer, count);
}

static size_t packed_size(void *state)
{
    (void)state;
    return generic.length;
}

static size_t pack(void *state, size_t offset, void *dest, size_t max)
{
    size_t length = (max > 10000) ? 10000 : max;

    memcpy(dest, (char *)state + offset, length);
    return length;
}

static ucs_status_t unpack(void *state, size_t offset, const void *src,
                           size_t length)
{
    memcpy((char *)state + offset, src, length);
    return UCS_OK;
}

static void finish(void *state)
{
    (void)state;
    ++generic.finished;
}

/* Arguments that describe a buffer to UCP with one of the datatypes */
struct layout {
    ucp_dt_iov_t iov[PIECES];
    ucp_datatype_t datatype;
    void *buffer;
    size_t count;
};

static void lay_out(struct layout *layout, enum take take, char *buffer,
                    size_t length, ucp_datatype_t generic_type)
{
    size_t done = 0, piece, i;

    layout->buffer   = buffer;
    layout->count    = length;
    layout->datatype = ucp_dt_make_contig(1);
    if (take == GENERIC) {
        generic.length   = length;
        layout->datatype = generic_type;
    } else if (take == IOV) {
        for (i = 0; i < PIECES; ++i) {
            piece          = (i % 3 == 2) ? 0 : length / PIECES;
            piece          = (i == PIECES - 1) ? length - done : piece;
            layout->iov[i] = (ucp_dt_iov_t){buffer + done, piece};
            done += piece;
        }
        layout->buffer   = layout->iov;
        layout->count    = PIECES;
        layout->datatype = ucp_dt_make_iov();
    }
}

/* -------------------------------------------------------------- exchange -- */

static ucs_status_t wait_for(struct exchange *exchange,
                             ucs_status_ptr_t request, const char *what)
{
    double deadline = test_now() + test_seconds(30);
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        side_progress(&exchange->side);
        if (test_now() > deadline) {
            FAIL("%s of %u bytes: not over", what, exchange->now.size);
        }
    }
    ucp_request_free(request);
    return status;
}

static void wait_count(struct exchange *exchange, const unsigned *count,
                       unsigned wanted, const char *what)
{
    double deadline = test_now() + test_seconds(30);

    while (*count != wanted) {
        side_progress(&exchange->side);
        if (test_now() > deadline) {
            FAIL("%s of %u bytes: %u of %u", what, exchange->now.size, *count,
                 wanted);
        }
    }
}

static void agree(struct exchange *exchange)
{
    team_barrier(exchange->team, side_progress, &exchange->side);
}

static void send_one(struct exchange *exchange, unsigned id, uint32_t flags,
                     ucp_datatype_t generic_type)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_DATATYPE,
        .flags        = flags,
    };
    struct order *now = &exchange->now;
    unsigned answers  = exchange->answers;
    struct layout layout;
    ucs_status_ptr_t request;

    data_fill(exchange->header, now->header, now->number + 1);
    data_fill(exchange->buffer, now->size, now->number);
    lay_out(&layout, exchange->take, exchange->buffer, now->size, generic_type);
    param.datatype = layout.datatype;
    request        = ucp_am_send_nbx(exchange->ep->ep, id, exchange->header,
                                     now->header, layout.buffer, layout.count, &param);
    if (flags & UCP_AM_SEND_FLAG_COPY_HEADER) {
        memset(exchange->header, 0x77, now->header);
    }
    EXPECT_OK(wait_for(exchange, request, "send"));
    if (flags & UCP_AM_SEND_FLAG_REPLY) {
        wait_count(exchange, &exchange->answers, answers + 1, "answer");
    }
}

static void take_kept(struct exchange *exchange, ucp_datatype_t generic_type)
{
    ucp_worker_h worker       = exchange->side.worker;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE};
    size_t length             = exchange->kept_length;
    void *kept                = exchange->kept;
    struct layout layout;

    exchange->kept = NULL;
    if (exchange->take == RELEASE) {
        ucp_am_data_release(worker, kept);
        return;
    }
    memset(exchange->buffer, 0, length);
    lay_out(&layout, exchange->take, exchange->buffer, length, generic_type);
    param.datatype = layout.datatype;
    EXPECT_OK(wait_for(exchange,
                       ucp_am_recv_data_nbx(worker, kept, layout.buffer,
                                            layout.count, &param),
                       "fetch"));
    data_verify(exchange->buffer, length, exchange->now.number);
}

static void receive_one(struct exchange *exchange, uint32_t flags,
                        ucp_datatype_t generic_type)
{
    static const ucp_request_param_t eager = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_AM_SEND_FLAG_EAGER,
    };

    wait_count(exchange, &exchange->handled, ++exchange->expected, "message");
    if (exchange->kept != NULL) {
        take_kept(exchange, generic_type);
    }
    if (exchange->fetching) {
        exchange->fetching = false;
        EXPECT_OK(wait_for(exchange, exchange->request, "fetch"));
        data_verify(exchange->buffer, exchange->kept_length,
                    exchange->now.number);
    }
    if (flags & UCP_AM_SEND_FLAG_REPLY) {
        EXPECT(exchange->reply_ep != NULL);
        EXPECT_OK(wait_for(exchange,
                           ucp_am_send_nbx(exchange->reply_ep, ANSWER, NULL, 0,
                                           &exchange->now.number,
                                           sizeof(uint64_t), &eager),
                           "answer"));
    } else {
        EXPECT(exchange->reply_ep == NULL);
    }
}

/* The members send every combination of size, header length and send flags:
 * seven messages in one direction, then seven in the other. The receiver uses
 * the ways of `enum take` in turn, so that each way occurs with each header
 * length and flags, and with each size and header length. */
static void exchange_all(struct exchange *exchange, ucp_datatype_t generic_type)
{
    static const uint32_t flags[] = {
        0,
        UCP_AM_SEND_FLAG_EAGER,
        UCP_AM_SEND_FLAG_RNDV,
        UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_COPY_HEADER,
        UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_RNDV |
            UCP_AM_SEND_FLAG_COPY_HEADER,
        UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER,
    };
    size_t headers[] = {0, 1, 8, 100, 0};
    unsigned number  = 0;
    unsigned s, f, h;

    headers[4] = exchange->max_header;
    for (s = 0; s < NUM_SIZES; ++s) {
        for (f = 0; f < sizeof(flags) / sizeof(flags[0]); ++f) {
            for (h = 0; h < sizeof(headers) / sizeof(headers[0]); ++h) {
                unsigned id = (number % 2) ? PERSISTENT : MESSAGE;

                exchange->now  = (struct order){number * 2, (uint32_t)sizes[s],
                                                (uint32_t)headers[h]};
                exchange->take = (enum take)((s + f + h) % NUM_TAKES);
                agree(exchange);
                if (exchange->team->rank == (int)(number / 7 % 2)) {
                    send_one(exchange, id, flags[f], generic_type);
                } else {
                    receive_one(exchange, flags[f], generic_type);
                }
                ++number;
            }
        }
    }
}

/* The sender closes by force while the receiver still holds the descriptor of a
 * rendezvous message: the receiver's fetch of the data and its reply fail. */
static void close_in_between(struct exchange *exchange)
{
    static const ucp_request_param_t none = {0};
    ucp_request_param_t param             = {
                    .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                    .flags        = UCP_AM_SEND_FLAG_RNDV | UCP_AM_SEND_FLAG_REPLY,
    };
    ucs_status_ptr_t request;
    void *descriptor;

    exchange->now = (struct order){1000000, MAX_SIZE, 0};
    agree(exchange);
    if (exchange->team->rank == 0) {
        data_fill(exchange->buffer, MAX_SIZE, exchange->now.number);
        request = ucp_am_send_nbx(exchange->ep->ep, MESSAGE, NULL, 0,
                                  exchange->buffer, MAX_SIZE, &param);
        EXPECT(UCS_PTR_IS_PTR(request));
        agree(exchange);
        EXPECT_OK(side_close_ep(exchange->ep, UCP_EP_CLOSE_FLAG_FORCE));
        EXPECT_STATUS(wait_for(exchange, request, "send"), UCS_ERR_CANCELED);
        agree(exchange);
        agree(exchange);
        return;
    }

    wait_count(exchange, &exchange->handled, ++exchange->expected, "message");
    descriptor     = exchange->kept;
    exchange->kept = NULL;
    agree(exchange);
    agree(exchange); /* the sender has closed its endpoint */
    side_linger(&exchange->side, 0.2);
    EXPECT(wait_for(exchange,
                    ucp_am_recv_data_nbx(exchange->side.worker, descriptor,
                                         exchange->buffer, MAX_SIZE, &none),
                    "fetch") != UCS_OK);
    request = ucp_am_send_nbx(exchange->reply_ep, ANSWER, NULL, 0, "", 1,
                              &none);
    EXPECT(wait_for(exchange, request, "answer") != UCS_OK);
    side_close_ep(exchange->ep, UCP_EP_CLOSE_FLAG_FORCE);
    agree(exchange);
}

static void member(struct team *team, void *arg)
{
    static const ucp_generic_dt_ops_t ops = {start_pack,  start_unpack,
                                             packed_size, pack,
                                             unpack,      finish};
    struct exchange exchange              = {.team = team};
    ucp_worker_attr_t attr                = {
                       .field_mask = UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER,
    };
    ucp_datatype_t generic_type;

    (void)arg;
    exchange.buffer = malloc(MAX_SIZE);
    EXPECT(exchange.buffer != NULL);
    EXPECT_OK(ucp_dt_create_generic(&ops, NULL, &generic_type));
    side_open(&exchange.side, UCP_FEATURE_AM);
    EXPECT_OK(ucp_worker_query(exchange.side.worker, &attr));
    EXPECT_INT(attr.max_am_header, >, 100);
    exchange.max_header = attr.max_am_header;
    exchange.header     = malloc(exchange.max_header);
    EXPECT(exchange.header != NULL);
    set_handler(&exchange, MESSAGE, 0, on_message);
    set_handler(&exchange, PERSISTENT, UCP_AM_FLAG_PERSISTENT_DATA, on_message);
    set_handler(&exchange, ANSWER, 0, on_answer);

    exchange.ep = side_meet(&exchange.side, team, 1 - team->rank);
    exchange_all(&exchange, generic_type);
    EXPECT_INT(generic.started, ==, generic.finished);
    close_in_between(&exchange);
    side_close(&exchange.side);
    ucp_dt_destroy(generic_type);
    free(exchange.header);
    free(exchange.buffer);
}

int main(void)
{
    struct team team = {.limit = 120};

    return team_run(&team, 2, member, NULL);
}
