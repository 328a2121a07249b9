/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tag: two senders by different transports. Each member receives messages of
 * the other member and of itself, with the same tags, by exact tags, by masks
 * and by probes. Some receives are cancelled. Every message arrives once.
 * Messages of one sender with one tag match receives in the order in which the
 * receives were posted.
 *
 * With a transport that matches tags (tag offload), receives into large buffers
 * are matched by that transport for one sender, and by UCP for the other one;
 * UCP alone matches the other receives. Options: --seed N, --steps N.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdlib.h>
#include <string.h>

enum {
    STEPS    = 20000,
    SENDERS  = 2, /* Of a member's messages: itself and the other member */
    TAGS     = 3,
    WINDOW   = 64, /* Most receives of a member in flight; likewise sends */
    MAX_SIZE = 40000,
    /* Receives into buffers of at least this size are offloaded */
    LARGE    = 50000,
    ROOM     = 60000, /* Maximum size of a buffer */
};

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

/* The beginning of each message. */
struct header {
    uint32_t sender;
    uint32_t tag;
    uint64_t number; /* Of the messages of this sender with this tag */
};

struct transfer {
    struct side_op op;
    uint64_t posted; /* Time of the post, counted in steps */
    bool used, cancelled;
    char *buffer;
};

/* What a member has received of one sender with one tag. */
struct stream {
    uint64_t count;
    uint64_t *posted; /* By message number: when the receive was posted */
};

struct order {
    struct team *team;
    struct side side;
    struct side_ep *eps[SENDERS]; /* By rank of the receiver */
    struct random random;
    uint64_t steps, now;
    uint64_t sent[SENDERS][TAGS];          /* By receiver */
    struct stream received[SENDERS][TAGS]; /* By sender */
    /* In finish(): messages to this member that it has not received. Before:
     * minus the number of received messages */
    uint64_t left;
    struct transfer sends[WINDOW], receives[WINDOW];
};

static struct transfer *find_free(struct transfer *transfers)
{
    int i;

    for (i = 0; i < WINDOW; ++i) {
        if (!transfers[i].used) {
            return &transfers[i];
        }
    }
    return NULL;
}

static size_t draw_size(struct random *random)
{
    uint64_t kind = random_below(random, 20);

    return sizeof(struct header) + ((kind == 0) ?
                                        random_below(random, MAX_SIZE) :
                                    (kind < 5) ? random_below(random, 2000) :
                                                 random_below(random, 50));
}

static void send_to(struct order *order, int to)
{
    struct transfer *transfer = find_free(order->sends);
    struct header header      = {.sender = (uint32_t)order->team->rank};
    size_t size               = draw_size(&order->random);

    if (transfer == NULL) {
        return;
    }
    header.tag     = (uint32_t)random_below(&order->random, TAGS);
    header.number  = order->sent[to][header.tag]++;
    transfer->used = true;
    memcpy(transfer->buffer, &header, sizeof(header));
    data_fill(transfer->buffer + sizeof(header), size - sizeof(header),
              header.number);
    side_send(order->eps[to], &transfer->op, transfer->buffer, size,
              header.tag);
}

/* A message has arrived in a receive that was posted at the time `posted`. */
static void take(struct order *order, const char *buffer,
                 const ucp_tag_recv_info_t *info, uint64_t posted)
{
    struct header header;
    struct stream *stream;

    EXPECT(info->length >= sizeof(header));
    memcpy(&header, buffer, sizeof(header));
    EXPECT(header.sender < SENDERS);
    EXPECT_INT(header.tag, ==, info->sender_tag);
    data_verify(buffer + sizeof(header), info->length - sizeof(header),
                header.number);
    stream = &order->received[header.sender][header.tag];
    EXPECT(header.number < order->steps);
    EXPECT_INT(stream->posted[header.number], ==, 0);
    stream->posted[header.number] = posted;
    ++stream->count;
    --order->left;
}

static void post(struct order *order)
{
    struct transfer *transfer = find_free(order->receives);
    bool is_exact             = random_below(&order->random, 3) > 0;

    if (transfer == NULL) {
        return;
    }
    transfer->used      = true;
    transfer->cancelled = false;
    transfer->posted    = order->now;
    side_recv(&order->side, &transfer->op, transfer->buffer,
              (random_below(&order->random, 2) == 0) ? LARGE - 1 : ROOM,
              random_below(&order->random, TAGS), is_exact ? ALL : 0);
}

static void probe(struct order *order)
{
    const ucp_request_param_t param = {.op_attr_mask = 0};
    struct transfer *transfer       = find_free(order->receives);
    ucp_tag_message_h message;
    ucp_tag_recv_info_t info;
    ucs_status_ptr_t request;

    message = (transfer == NULL) ?
                  NULL :
                  ucp_tag_probe_nb(order->side.worker, 0, 0, 1, &info);
    if (message == NULL) {
        return;
    }
    request = ucp_tag_msg_recv_nbx(order->side.worker, transfer->buffer, ROOM,
                                   message, &param);
    EXPECT_OK(side_wait(&order->side, request, "receive of a probed message"));
    take(order, transfer->buffer, &info, order->now);
}

static void cancel(struct order *order)
{
    struct transfer *transfer =
        &order->receives[random_below(&order->random, WINDOW)];

    if (transfer->used && !transfer->op.done &&
        UCS_PTR_IS_PTR(transfer->op.request)) {
        transfer->cancelled = true;
        ucp_request_cancel(order->side.worker, transfer->op.request);
    }
}

/* Checks the operations that have ended. */
static void collect(struct order *order)
{
    struct transfer *transfer;
    int i;

    for (i = 0; i < WINDOW; ++i) {
        transfer = &order->sends[i];
        if (transfer->used && transfer->op.done) {
            side_complete(&order->side, &transfer->op, "send");
            transfer->used = false;
        }
        transfer = &order->receives[i];
        if (!transfer->used || !transfer->op.done) {
            continue;
        }
        side_finish(&order->side, &transfer->op, 1, "receive");
        transfer->used = false;
        if (transfer->cancelled && (transfer->op.status == UCS_ERR_CANCELED)) {
            continue;
        }
        EXPECT_OK(transfer->op.status);
        take(order, transfer->buffer, &transfer->op.info, transfer->posted);
    }
}

static void step(struct order *order)
{
    ++order->now;
    switch (random_below(&order->random, 10)) {
    case 0:
    case 1:
        send_to(order, order->team->rank);
        break;
    case 2:
    case 3:
        send_to(order, 1 - order->team->rank);
        break;
    case 4:
    case 5:
    case 6:
        post(order);
        break;
    case 7:
        if (random_below(&order->random, 8) == 0) {
            probe(order);
        } else {
            cancel(order);
        }
        break;
    default:
        side_progress(&order->side);
        collect(order);
        break;
    }
}

/* Tells the other member how many messages it gets, and receives what is left
 * of the messages to this one. */
static void finish(struct order *order)
{
    uint64_t to_other = 0, to_self = 0, to_this;
    int rank = order->team->rank;
    int tag;

    for (tag = 0; tag < TAGS; ++tag) {
        to_other += order->sent[1 - rank][tag];
        to_self += order->sent[rank][tag];
    }
    team_put(order->team, 1 - rank, &to_other, sizeof(to_other));
    team_get_progressing(order->team, 1 - rank, &to_this, sizeof(to_this),
                         side_progress, &order->side);
    order->left += to_this + to_self;
    while (order->left > 0) {
        ++order->now;
        post(order);
        side_progress(&order->side);
        collect(order);
    }
}

/* Cancels the receives that no message has matched, and completes the sends.
 * All messages have arrived. */
static void cancel_rest(struct order *order)
{
    struct transfer *transfer;
    int i;

    collect(order); /* Receives that the last steps have cancelled */
    for (i = 0; i < WINDOW; ++i) {
        transfer = &order->receives[i];
        if (transfer->used) {
            ucp_request_cancel(order->side.worker, transfer->op.request);
            side_finish(&order->side, &transfer->op, 10, "cancelled receive");
            EXPECT_INT(transfer->op.status, ==, UCS_ERR_CANCELED);
        }
        transfer = &order->sends[i];
        if (transfer->used) {
            side_complete(&order->side, &transfer->op, "send");
        }
    }
}

static void check_order(struct order *order)
{
    const struct stream *stream;
    uint64_t i;
    int sender, tag;

    for (sender = 0; sender < SENDERS; ++sender) {
        for (tag = 0; tag < TAGS; ++tag) {
            stream = &order->received[sender][tag];
            EXPECT(stream->posted[0] > 0);
            for (i = 1; i < stream->count; ++i) {
                EXPECT_INT(stream->posted[i], >, stream->posted[i - 1]);
            }
        }
    }
}

static void set_up(struct order *order)
{
    int rank = order->team->rank;
    size_t length;
    void *address;
    int i, j;

    for (i = 0; i < WINDOW; ++i) {
        order->sends[i].buffer    = malloc(ROOM);
        order->receives[i].buffer = malloc(ROOM);
        EXPECT(order->sends[i].buffer != NULL);
        EXPECT(order->receives[i].buffer != NULL);
    }
    for (i = 0; i < SENDERS; ++i) {
        for (j = 0; j < TAGS; ++j) {
            order->received[i][j].posted = calloc(order->steps,
                                                  sizeof(uint64_t));
            EXPECT(order->received[i][j].posted != NULL);
        }
    }
    setenv("UCX_TM_THRESH", "50000", 1); /* LARGE */
    side_open(&order->side, UCP_FEATURE_TAG);
    order->eps[1 - rank] = side_meet(&order->side, order->team, 1 - rank);
    address              = side_address(&order->side, &length);
    order->eps[rank]     = side_connect(&order->side, address);
    free(address);
}

static void clean_up(struct order *order)
{
    int i, j;

    EXPECT_OK(side_close_ep(order->eps[order->team->rank], 0));
    EXPECT_OK(side_close_ep(order->eps[1 - order->team->rank], 0));
    team_barrier(order->team, side_progress, &order->side);
    side_close(&order->side);
    for (i = 0; i < WINDOW; ++i) {
        free(order->sends[i].buffer);
        free(order->receives[i].buffer);
    }
    for (i = 0; i < SENDERS; ++i) {
        for (j = 0; j < TAGS; ++j) {
            free(order->received[i][j].posted);
        }
    }
    free(order);
}

static void member(struct team *team, void *arg)
{
    const uint64_t *options = arg; /* seed, steps */
    struct order *order     = calloc(1, sizeof(*order));

    EXPECT(order != NULL);
    order->team   = team;
    order->steps  = options[1];
    order->random = (struct random){options[0] + (uint64_t)team->rank};
    set_up(order);
    while (order->now < order->steps) {
        step(order);
    }
    finish(order);
    team_barrier(team, side_progress, &order->side);
    cancel_rest(order);
    check_order(order);
    clean_up(order);
}

int main(int argc, char **argv)
{
    uint64_t options[2] = {random_seed(argc, argv), STEPS};
    struct team team    = {.limit = 120};
    int i;

    for (i = 1; i + 1 < argc; ++i) {
        if (strcmp(argv[i], "--steps") == 0) {
            options[1] = strtoull(argv[i + 1], NULL, 0);
        }
    }
    return team_run(&team, 2, member, options);
}
