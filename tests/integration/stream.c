/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream: data arrives complete and in order between two processes, however
 * sender and receiver divide it: sizes around every power of two up to 8 MiB;
 * random parts of every datatype, in both directions on several endpoints at
 * once; and with ucp_stream_worker_poll(). --short: fewer sizes.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FLOWS   = 4,
    WINDOW  = 4,  /* Operations in flight in each direction of a flow */
    PIECES  = 12, /* Entries of an IOV list */
    LARGEST = 8 << 20,
    POLLED  = 2000, /* Numbers that each side sends in the polling test */
};

/* How the buffer of an operation is described to UCP. */
enum kind { BYTES, EIGHTS, IOV, GENERIC, KINDS };

struct generic {
    char *bytes;
    size_t length;
};

struct piece {
    struct side_op op;
    enum kind kind;
    char *bytes;
    size_t size;
    bool used;
    ucp_dt_iov_t iov[PIECES];
    struct generic generic;
};

/* An endpoint with data in both directions, and its operations. */
struct flow {
    struct side *side;
    struct side_ep *ep;
    struct random random;
    size_t total; /* Bytes to send and to receive */
    size_t sent, received;
    struct piece out[WINDOW], in[WINDOW];
    /* `in` is a ring: index of the oldest receive, and their number */
    unsigned first_in, num_in;
};

static ucp_datatype_t generic_datatype;

/* -------------------------------------------------------------- contents -- */

static void fill(char *bytes, size_t length, size_t place)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        bytes[i] = (char)((place + i) * 7 + ((place + i) >> 8) +
                          ((place + i) >> 16));
    }
}

static void verify(const char *bytes, size_t length, size_t place)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        if (bytes[i] != (char)((place + i) * 7 + ((place + i) >> 8) +
                               ((place + i) >> 16))) {
            FAIL("the byte at %zu of the stream is wrong, %zu into a receive of"
                 " %zu",
                 place + i, i, length);
        }
    }
}

static void *start_pack(void *context, const void *buffer, size_t count)
{
    (void)context;
    (void)count;
    return (void *)buffer;
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
    (void)context;
    (void)count;
    return buffer;
}

static size_t packed_size(void *state)
{
    return ((struct generic *)state)->length;
}

static size_t pack(void *state, size_t offset, void *dest, size_t max)
{
    struct generic *generic = state;
    /* less than requested: the library must call again */
    size_t length           = max - max / 3;

    if (length > generic->length - offset) {
        length = generic->length - offset;
    }
    memcpy(dest, generic->bytes + offset, length);
    return length;
}

static ucs_status_t unpack(void *state, size_t offset, const void *src,
                           size_t length)
{
    struct generic *generic = state;

    EXPECT_INT(length, <=, generic->length - offset);
    memcpy(generic->bytes + offset, src, length);
    return UCS_OK;
}

static void finish(void *state)
{
    (void)state;
}

static void make_datatype(void)
{
    static const ucp_generic_dt_ops_t ops = {
        start_pack, start_unpack, packed_size, pack, unpack, finish,
    };

    EXPECT_OK(ucp_dt_create_generic(&ops, NULL, &generic_datatype));
}

/* ------------------------------------------------------------- fragments -- */

static void cut_iov(struct piece *piece, struct random *random)
{
    size_t done = 0, length;
    int i;

    for (i = 0; i < PIECES; ++i) {
        length = (i == PIECES - 1) ?
                     piece->size - done :
                     random_below(random, 2 * piece->size / PIECES + 1);
        if (length > piece->size - done) {
            length = piece->size - done;
        }
        piece->iov[i].buffer = (length > 0) ? piece->bytes + done : NULL;
        piece->iov[i].length = length;
        done += length;
    }
}

/* Returns the buffer, the count and the datatype that describe the operation's
 * data to UCP. */
static void *describe(struct piece *piece, struct random *random,
                      size_t *count_p, ucp_datatype_t *datatype_p)
{
    switch (piece->kind) {
    case EIGHTS:
        *count_p    = piece->size / 8;
        *datatype_p = ucp_dt_make_contig(8);
        return piece->bytes;
    case IOV:
        cut_iov(piece, random);
        *count_p    = PIECES;
        *datatype_p = ucp_dt_make_iov();
        return piece->iov;
    case GENERIC:
        piece->generic = (struct generic){piece->bytes, piece->size};
        *count_p       = 1;
        *datatype_p    = generic_datatype;
        return &piece->generic;
    default:
        *count_p    = piece->size;
        *datatype_p = ucp_dt_make_contig(1);
        return piece->bytes;
    }
}

static void new_piece(struct piece *piece, enum kind kind, size_t size)
{
    piece->op    = (struct side_op){.done = false};
    piece->kind  = kind;
    piece->size  = size;
    piece->used  = true;
    piece->bytes = malloc(size + 1);
    EXPECT(piece->bytes != NULL);
}

static void end_piece(struct piece *piece)
{
    free(piece->bytes);
    piece->used = false;
}

static size_t random_size(struct random *random, size_t limit)
{
    size_t size = random_below(random, 2ull << random_below(random, 21));

    return (size < limit) ? size : limit;
}

/* --------------------------------------------------------------- sending -- */

static void on_sent(void *request, ucs_status_t status, void *arg)
{
    struct side_op *op = arg;

    op->done   = true;
    op->status = status;
    ucp_request_free(request);
}

static void start_send(struct side_ep *ep, struct piece *piece,
                       struct random *random)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA |
                        UCP_OP_ATTR_FIELD_DATATYPE,
        .cb.send   = on_sent,
        .user_data = &piece->op,
    };
    ucs_status_ptr_t ret;
    size_t count;
    void *buffer;

    buffer = describe(piece, random, &count, &param.datatype);
    if (random_below(random, 8) == 0) {
        param.op_attr_mask |= UCP_OP_ATTR_FLAG_FAST_CMPL;
    }
    ret = ucp_stream_send_nbx(ep->ep, buffer, count, &param);
    if (!UCS_PTR_IS_PTR(ret)) {
        EXPECT_OK(UCS_PTR_STATUS(ret));
        piece->op.done = true;
    }
}

static void send_more(struct flow *flow)
{
    size_t left;
    enum kind kind;
    int i;

    for (i = 0; i < WINDOW; ++i) {
        struct piece *piece = &flow->out[i];

        if (piece->used) {
            if (!piece->op.done) {
                continue;
            }
            EXPECT_OK(piece->op.status);
            end_piece(piece);
        }
        left = flow->total - flow->sent;
        if (left > 0) {
            kind = random_below(&flow->random, KINDS);
            new_piece(piece, kind, random_size(&flow->random, left));
            if (kind == EIGHTS) {
                piece->size -= piece->size % 8;
            }
            fill(piece->bytes, piece->size, flow->sent);
            flow->sent += piece->size;
            start_send(flow->ep, piece, &flow->random);
        }
    }
}

/* ------------------------------------------------------------- receiving -- */

static void on_received(void *request, ucs_status_t status, size_t length,
                        void *arg)
{
    struct side_op *op = arg;

    EXPECT(!op->done);
    op->done        = true;
    op->status      = status;
    op->info.length = length;
    ucp_request_free(request);
}

static void start_recv(struct side_ep *ep, struct piece *piece, bool wait_all,
                       struct random *random)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA |
                        UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_FLAGS,
        .cb.recv_stream = on_received,
        .user_data      = &piece->op,
        .flags          = wait_all ? UCP_STREAM_RECV_FLAG_WAITALL : 0,
    };
    ucs_status_ptr_t ret;
    size_t count;
    void *buffer;

    buffer = describe(piece, random, &count, &param.datatype);
    ret    = ucp_stream_recv_nbx(ep->ep, buffer, count, &piece->op.info.length,
                                 &param);
    piece->op.request = ret;
    if (!UCS_PTR_IS_PTR(ret)) {
        EXPECT_OK(UCS_PTR_STATUS(ret));
        piece->op.done = true;
    }
}

/* Returns the number of bytes that are still to come and for which no receive
 * is posted. */
static size_t unclaimed(const struct flow *flow)
{
    size_t left = flow->total - flow->received;
    unsigned i;

    for (i = 0; i < flow->num_in; ++i) {
        const struct piece *piece = &flow->in[(flow->first_in + i) % WINDOW];

        left = (piece->size < left) ? left - piece->size : 0;
    }
    return left;
}

static void take_data(struct flow *flow)
{
    size_t length;
    void *data = ucp_stream_recv_data_nb(flow->ep->ep, &length);

    if (data != NULL) {
        EXPECT(UCS_PTR_IS_PTR(data));
        verify(data, length, flow->received);
        flow->received += length;
        ucp_stream_data_release(flow->ep->ep, data);
    }
}

/* Posts a receive that certainly completes: it is not longer than the data that
 * is still to come. */
static void post_one(struct flow *flow)
{
    struct piece *piece = &flow->in[(flow->first_in + flow->num_in) % WINDOW];
    size_t left         = unclaimed(flow);
    enum kind kind      = random_below(&flow->random, KINDS);
    bool wait_all       = random_below(&flow->random, 2) == 0;
    size_t size         = random_size(&flow->random, left);

    if (kind == EIGHTS) {
        if (left < 8) {
            return;
        }
        size = (size < 8) ? 8 : size - size % 8;
    }
    if (size == 0) {
        return;
    }
    new_piece(piece, kind, size);
    ++flow->num_in;
    start_recv(flow->ep, piece, wait_all, &flow->random);
    if (piece->op.done && wait_all) {
        EXPECT_INT(piece->op.info.length, ==, size);
    }
}

static void receive_more(struct flow *flow)
{
    while (flow->num_in > 0) {
        struct piece *piece = &flow->in[flow->first_in];

        if (!piece->op.done) {
            break;
        }
        EXPECT_OK(piece->op.status);
        EXPECT_INT(piece->op.info.length, >, 0);
        EXPECT_INT(piece->op.info.length, <=, piece->size);
        if (piece->kind == EIGHTS) {
            EXPECT_INT(piece->op.info.length % 8, ==, 0);
        }
        verify(piece->bytes, piece->op.info.length, flow->received);
        flow->received += piece->op.info.length;
        end_piece(piece);
        flow->first_in = (flow->first_in + 1) % WINDOW;
        --flow->num_in;
    }

    if ((flow->num_in == 0) && (random_below(&flow->random, 4) == 0)) {
        take_data(flow);
    } else if ((flow->num_in < WINDOW) && (unclaimed(flow) > 0) &&
               (random_below(&flow->random, 3) > 0)) {
        post_one(flow);
    }
}

static bool is_over(const struct flow *flow)
{
    int i;

    for (i = 0; i < WINDOW; ++i) {
        if (flow->out[i].used) {
            return false;
        }
    }
    return (flow->sent == flow->total) && (flow->received == flow->total) &&
           (flow->num_in == 0);
}

/* ----------------------------------------------------------------- parts -- */

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *eps[FLOWS];
    bool is_short;
    uint64_t seed;
};

static void random_pieces(struct talk *talk)
{
    struct flow *flows = calloc(FLOWS, sizeof(*flows));
    double deadline    = test_now() + test_seconds(60);
    int i, over = 0;

    EXPECT(flows != NULL);
    for (i = 0; i < FLOWS; ++i) {
        flows[i].side         = &talk->side;
        flows[i].ep           = talk->eps[i];
        flows[i].random.state = talk->seed + 10 * talk->team->rank + i;
        flows[i].total        = (talk->is_short ? 6 : 48) << 20;
    }
    while (over < FLOWS) {
        over = 0;
        for (i = 0; i < FLOWS; ++i) {
            send_more(&flows[i]);
            receive_more(&flows[i]);
            over += is_over(&flows[i]);
        }
        side_progress(&talk->side);
        if (test_now() > deadline) {
            FAIL("random pieces: not over after %.0f s; flow 0 has sent %zu and"
                 " received %zu of %zu",
                 test_seconds(60), flows[0].sent, flows[0].received,
                 flows[0].total);
        }
    }
    free(flows);
}

static void agree(struct talk *talk)
{
    team_barrier(talk->team, side_progress, &talk->side);
}

static void send_size(struct talk *talk, size_t size, size_t place)
{
    struct random random = {.state = size};
    struct piece piece;

    new_piece(&piece, BYTES, size);
    fill(piece.bytes, size, place);
    start_send(talk->eps[0], &piece, &random);
    if (!piece.op.done) {
        side_complete(&talk->side, &piece.op, "send");
    }
    end_piece(&piece);
}

static void receive_size(struct talk *talk, size_t size, size_t place)
{
    struct random random = {.state = size};
    struct piece piece;

    new_piece(&piece, BYTES, size);
    start_recv(talk->eps[0], &piece, true, &random);
    if (!piece.op.done) {
        side_complete(&talk->side, &piece.op, "receive");
    }
    EXPECT_INT(piece.op.info.length, ==, size);
    verify(piece.bytes, size, place);
    end_piece(&piece);
}

/* Transfers one size in each direction, with the receive posted before the data
 * arrives and after. */
static size_t exchange_size(struct talk *talk, size_t size, size_t place)
{
    int early, sender;

    for (early = 0; early < 2; ++early) {
        for (sender = 0; sender < 2; ++sender) {
            if (early == (talk->team->rank == sender)) {
                side_linger(&talk->side, 0.0005);
            }
            if (talk->team->rank == sender) {
                send_size(talk, size, place);
            } else {
                receive_size(talk, size, place);
            }
        }
        place += size;
    }
    return place;
}

static void every_size(struct talk *talk)
{
    size_t largest = talk->is_short ? 1 << 20 : LARGEST;
    size_t size, place = 0;

    place = exchange_size(talk, 0, place);
    for (size = 1; size <= largest; size *= 2) {
        place = exchange_size(talk, size - 1, place);
        place = exchange_size(talk, size, place);
        place = exchange_size(talk, size + 1, place);
    }
    agree(talk);
}

/* Both sides send numbers over random endpoints. ucp_stream_worker_poll()
 * returns the endpoints with data. */
static void by_polling(struct talk *talk)
{
    struct random random      = {.state = talk->seed + talk->team->rank};
    ucp_request_param_t none  = {.op_attr_mask = 0};
    double deadline           = test_now() + test_seconds(30);
    uint64_t counts[FLOWS][2] = {{0}}; /* By endpoint: numbers sent, received */
    unsigned sent = 0, received = 0;
    ucp_stream_poll_ep_t polls[2];
    ucs_status_ptr_t ret;
    uint64_t number;
    ssize_t found;
    size_t length;
    int i;

    while ((sent < POLLED) || (received < POLLED)) {
        EXPECT(test_now() < deadline);
        if ((sent < POLLED) && (random_below(&random, 2) == 0)) {
            i      = random_below(&random, FLOWS);
            number = counts[i][0]++;
            ret = ucp_stream_send_nbx(talk->eps[i]->ep, &number, sizeof(number),
                                      &none);
            if (UCS_PTR_IS_PTR(ret)) {
                while (ucp_request_check_status(ret) == UCS_INPROGRESS) {
                    side_progress(&talk->side);
                }
                ucp_request_free(ret);
            } else {
                EXPECT_OK(UCS_PTR_STATUS(ret));
            }
            ++sent;
        }
        side_progress(&talk->side);
        found = ucp_stream_worker_poll(talk->side.worker, polls, 2, 0);
        EXPECT_INT(found, >=, 0);
        while (found-- > 0) {
            for (i = 0; talk->eps[i]->ep != polls[found].ep; ++i) {
                EXPECT_INT(i, <, FLOWS - 1);
            }
            EXPECT(polls[found].user_data == talk->eps[i]);
            while (ucp_stream_recv_nbx(
                       polls[found].ep, &number, 1, &length,
                       &(ucp_request_param_t){
                           .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE |
                                           UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL,
                           .datatype = ucp_dt_make_contig(sizeof(number)),
                       }) == NULL) {
                EXPECT_INT(number, ==, counts[i][1]);
                ++counts[i][1];
                ++received;
            }
        }
    }
}

static void member(struct team *team, void *arg)
{
    struct talk *talk = arg;
    void *address;
    int i;

    talk->team = team;
    make_datatype();
    side_open(&talk->side, UCP_FEATURE_STREAM);
    side_put_address(&talk->side, team, 1 - team->rank);
    address = side_get_address(team, 1 - team->rank);
    for (i = 0; i < FLOWS; ++i) {
        talk->eps[i] = side_connect(&talk->side, address);
        if ((i == 0) && (team->rank == 0)) {
            /* the peer creates its other endpoints later */
            agree(talk);
        }
    }
    if (team->rank == 1) {
        agree(talk);
    }
    free(address);

    every_size(talk);
    random_pieces(talk);
    agree(talk);
    by_polling(talk);
    agree(talk);
    for (i = 0; i < FLOWS; ++i) {
        EXPECT_OK(side_close_ep(talk->eps[i], 0));
    }
    agree(talk);
    side_close(&talk->side);
    ucp_dt_destroy(generic_datatype);
}

int main(int argc, char **argv)
{
    struct talk talk = {
        .seed     = random_seed(argc, argv),
        .is_short = team_asked(argc, argv, "--short"),
    };
    struct team team = {.limit = 120};

    return team_run(&team, 2, member, &talk);
}
