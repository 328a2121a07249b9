/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * eager: without rendezvous, messages of any length are sent before their
 * receives are posted. Two processes may then send to each other before either
 * receives, and tagged and active messages of mixed sizes arrive in order. When
 * a sender is killed in the middle of a message, the receive of that message
 * ends with an error.
 */
#include "common/data.h"
#include "common/side.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp_compat.h>

enum {
    AM_ID    = 9,
    ROUNDS   = 6,
    MESSAGES = 40, /* Of each kind, in flight */
    MAX_SIZE = 700000,
    /* Half the length of the message in which its sender is killed */
    HALF     = 4 << 20,
};

static const ucp_tag_t ALL = ~(ucp_tag_t)0;
static const ucp_request_param_t none;

static const size_t sizes[] = {65536, 8,      16, 300000,   8192, 20000, 0,
                               9000,  262143, 1,  MAX_SIZE, 100,  33000};

enum { NUM_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    struct random random;
    char *buffers[MESSAGES];
    char *place;
    uint64_t handled; /* Number of the next active message to receive */
    uint64_t sizes_sum;
};

static void agree(struct talk *talk)
{
    team_barrier(talk->team, side_progress, &talk->side);
}

/* ----------------------------------------------- both send, then receive -- */

static void send_nbr(struct talk *talk, size_t length)
{
    char *request           = calloc(1, 4096);
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};
    ucs_status_t status;

    EXPECT(request != NULL);
    EXPECT_OK(ucp_context_query(talk->side.context, &attr));
    EXPECT_INT(attr.request_size, <, 4096);
    data_fill(talk->buffers[0], length, (uint64_t)talk->team->rank);
    status = ucp_tag_send_nbr(talk->ep->ep, talk->buffers[0], length,
                              ucp_dt_make_contig(1), 1,
                              request + attr.request_size);
    while (status == UCS_INPROGRESS) {
        side_progress(&talk->side);
        status = ucp_request_check_status(request + attr.request_size);
    }
    EXPECT_OK(status);
    free(request);
}

static void cross(struct talk *talk)
{
    static const size_t lengths[] = {100, 8300, 20000, 70000, 262143};
    size_t i, length;

    for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); ++i) {
        send_nbr(talk, lengths[i]);
        agree(talk); /* both sides have sent, and neither has received yet */
        length = side_recv_wait(&talk->side, talk->place, MAX_SIZE, 1, ALL);
        EXPECT_INT(length, ==, lengths[i]);
        data_verify(talk->place, length, (uint64_t)!talk->team->rank);
    }
}

/* ----------------------------------------------------------------- order -- */

/* Returns the size of a message, by its number. */
static size_t size_of(uint64_t number)
{
    return sizes[number * 7 % NUM_SIZES];
}

static ucs_status_t on_message(void *arg, const void *header, size_t length_h,
                               void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    struct talk *talk = arg;
    uint64_t number   = talk->handled++;

    EXPECT_INT(length_h, ==, sizeof(number));
    EXPECT(memcmp(header, &number, sizeof(number)) == 0);
    EXPECT_INT(length, ==, size_of(number));
    EXPECT(!(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV));
    data_verify(data, length, number);
    return UCS_OK;
}

static void set_handler(struct talk *talk)
{
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id  = AM_ID,
        .cb  = on_message,
        .arg = talk,
    };

    EXPECT_OK(ucp_worker_set_am_recv_handler(talk->side.worker, &param));
}

/* Sends tagged and active messages in turn; every third tagged one is
 * synchronous. */
static void send_all(struct talk *talk, uint64_t first)
{
    ucs_status_ptr_t requests[2 * MESSAGES];
    uint64_t numbers[MESSAGES], number;
    int i;

    for (i = 0; i < MESSAGES; ++i) {
        number     = first + (uint64_t)i;
        numbers[i] = number;
        data_fill(talk->buffers[i], size_of(number), number);
        requests[2 * i] = ucp_am_send_nbx(talk->ep->ep, AM_ID, &numbers[i],
                                          sizeof(number), talk->buffers[i],
                                          size_of(number), &none);
        requests[2 * i + 1] =
            (i % 3 == 0) ?
                ucp_tag_send_sync_nbx(talk->ep->ep, talk->buffers[i],
                                      size_of(number), number, &none) :
                ucp_tag_send_nbx(talk->ep->ep, talk->buffers[i],
                                 size_of(number), number, &none);
    }
    for (i = 0; i < 2 * MESSAGES; ++i) {
        EXPECT_OK(side_wait(&talk->side, requests[i], "a message"));
    }
}

/* Receives with a mask of 0, which matches any tag: so the messages must arrive
 * in the order of sending. */
static void receive_all(struct talk *talk, uint64_t first)
{
    ucp_tag_recv_info_t info;
    struct side_op op;
    uint64_t number;
    int i;

    for (i = 0; i < MESSAGES; ++i) {
        number = first + (uint64_t)i;
        if (random_below(&talk->random, 2) == 0) {
            side_probe_wait(&talk->side, 0, 0, false, &info);
            EXPECT_INT(info.length, ==, size_of(number));
        }
        side_recv(&talk->side, &op, talk->place, MAX_SIZE, 0, 0);
        side_complete(&talk->side, &op, "a message");
        EXPECT_INT(op.info.sender_tag, ==, number);
        EXPECT_INT(op.info.length, ==, size_of(number));
        data_verify(talk->place, op.info.length, number);
    }
    while (talk->handled < first + MESSAGES) {
        side_progress(&talk->side);
    }
}

static void stay_in_order(struct talk *talk)
{
    uint64_t first = 0;
    int round;

    for (round = 0; round < ROUNDS; ++round) {
        if ((round + talk->team->rank) % 2 == 0) {
            send_all(talk, first);
            talk->handled = first + MESSAGES; /* the next number to receive */
        } else {
            receive_all(talk, first);
        }
        first += MESSAGES;
        agree(talk);
    }
}

static void talk_main(struct team *team, void *arg)
{
    struct talk talk = {.team = team, .random = {*(uint64_t *)arg + 1}};
    int i;

    setenv("UCX_RNDV_THRESH", "inf", 1);
    talk.place = malloc(MAX_SIZE);
    for (i = 0; i < MESSAGES; ++i) {
        talk.buffers[i] = malloc(MAX_SIZE);
        EXPECT(talk.buffers[i] != NULL);
    }
    side_open(&talk.side, UCP_FEATURE_TAG | UCP_FEATURE_AM);
    set_handler(&talk);
    talk.ep = side_meet(&talk.side, team, !team->rank);
    cross(&talk);
    stay_in_order(&talk);
    agree(&talk);
    side_close_ep(talk.ep, 0);
    side_close(&talk.side);
    for (i = 0; i < MESSAGES; ++i) {
        free(talk.buffers[i]);
    }
    free(talk.place);
}

/* ------------------------------------------------ death within a message -- */

static void *start_pack(void *context, const void *buffer, size_t count)
{
    return context;
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
    return context;
}

static size_t packed_size(void *state)
{
    return 2 * HALF;
}

/* Pack function of the victim's message: the victim kills itself when half of
 * the message is packed. */
static size_t pack(void *state, size_t offset, void *dest, size_t max)
{
    if (offset >= HALF) {
        raise(SIGKILL);
    }
    memset(dest, 1, max);
    return max;
}

static ucs_status_t unpack(void *state, size_t offset, const void *src,
                           size_t length)
{
    return UCS_OK;
}

static void finish(void *state)
{
}

static void victim_main(struct team *team)
{
    static const ucp_generic_dt_ops_t ops = {start_pack,  start_unpack,
                                             packed_size, pack,
                                             unpack,      finish};
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE};
    struct side_ep *ep;
    struct side side;
    char word = 1;

    side_open(&side, UCP_FEATURE_TAG);
    ep = side_meet(&side, team, 0);
    side_send_wait(ep, &word, 1, 2);
    side_recv_wait(&side, &word, 1, 2, ALL);
    EXPECT_OK(ucp_dt_create_generic(&ops, NULL, &param.datatype));
    ucp_tag_send_nbx(ep->ep, "", 1, 3, &param);
    for (;;) {
        side_progress(&side);
    }
}

/* The victim is killed within a message. If `posted`, the receive was posted
 * before; it ends with an error. Otherwise the incomplete message is
 * unexpected: probing no longer finds it after its sender is lost. */
static void survivor_main(struct team *team, bool posted)
{
    char *place = malloc(2 * HALF);
    ucp_tag_recv_info_t info;
    struct side_op op;
    struct side_ep *ep;
    struct side side;
    char word = 1;

    side_open(&side, UCP_FEATURE_TAG);
    ep = side_meet(&side, team, 1);
    side_recv_wait(&side, &word, 1, 2, ALL);
    if (posted) {
        side_recv(&side, &op, place, 2 * HALF, 3, ALL);
    }
    side_send_wait(ep, &word, 1, 2);
    if (posted) {
        side_finish(&side, &op, 30, "a receive whose sender has died");
        EXPECT(UCS_STATUS_IS_ERR(op.status));
    }
    side_wait_failure(ep, 30);
    while (ucp_tag_probe_nb(side.worker, 3, ALL, 0, &info) != NULL) {
        EXPECT_INT(info.length, ==, 2 * HALF);
        /* the endpoint on which the message arrives may fail a little later */
        side_progress(&side);
    }
    side_close_ep(ep, UCP_EP_CLOSE_FLAG_FORCE);
    side_close(&side);
    free(place);
}

static void die_main(struct team *team, void *arg)
{
    setenv("UCX_RNDV_THRESH", "inf", 1);
    if (team->rank == 0) {
        survivor_main(team, *(bool *)arg);
    } else {
        victim_main(team);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = random_seed(argc, argv);
    int status    = team_run(&(struct team){.limit = 120}, 2, talk_main, &seed);
    int posted;

    for (posted = 0; (posted < 2) && (status == 0); ++posted) {
        struct team team = {.may_die = {false, true}};
        bool how         = posted;

        status = team_run(&team, 2, die_main, &how);
    }
    return status;
}
