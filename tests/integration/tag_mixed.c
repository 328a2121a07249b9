/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tag: 100 000 messages of mixed sizes, sent in random order and received in
 * another order by exact tags, masks and probes. Each arrives once and
 * complete, and messages that one mask matches arrive in the order of sending.
 *
 * A tag contains the message's class in its top byte and the message's number
 * below. Classes 0 to 3 are received by exact tag, 4 to 6 by a mask that
 * matches the whole class, and 7 at the end, by a probe for any tag. Options:
 * --seed N, --messages N.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH      = 500,
    CLASSES    = 8,
    FIRST_MASK = 4,
    PROBED     = 7,
    MESSAGES   = 100000,
    MAX_SIZE   = 300 * 1024,
};

static const ucp_tag_t ALL        = ~(ucp_tag_t)0;
static const ucp_tag_t CLASS_MASK = (ucp_tag_t)0xff << 56;

struct message {
    ucp_tag_t tag;
    uint32_t size;
    uint32_t place; /* Index in the order in which the batch is sent */
    char *buffer;
    struct side_op op;
};

struct traffic {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    struct random random; /* The same state in both members */
    uint64_t first;       /* Number of the first message of the batch */
    uint32_t count;
    bool late; /* Receives are posted after the sends */
    uint32_t send_order[BATCH];
    uint32_t recv_order[BATCH];
    struct message messages[BATCH];
    char *arena;
};

static uint32_t draw_size(struct random *random)
{
    uint64_t kind = random_below(random, 1000);

    if (kind < 4) {
        return (uint32_t)random_below(random, MAX_SIZE);
    }
    if (kind < 60) {
        return (uint32_t)random_below(random, 16 * 1024);
    }
    if (kind < 300) {
        return (uint32_t)random_below(random, 2048);
    }
    return (uint32_t)random_below(random, 65);
}

static unsigned class_of(ucp_tag_t tag)
{
    return (unsigned)(tag >> 56);
}

static void draw_batch(struct traffic *traffic)
{
    struct message *message;
    char *next = traffic->arena;
    uint32_t i;

    for (i = 0; i < traffic->count; ++i) {
        message       = &traffic->messages[i];
        message->size = draw_size(&traffic->random);
        message->tag  = ((ucp_tag_t)random_below(&traffic->random, CLASSES)
                        << 56) |
                       (traffic->first + i);
        message->buffer = next;
        next += message->size;
    }
    random_order(&traffic->random, traffic->send_order, traffic->count);
    random_order(&traffic->random, traffic->recv_order, traffic->count);
    for (i = 0; i < traffic->count; ++i) {
        traffic->messages[traffic->send_order[i]].place = i;
    }
    traffic->late = random_below(&traffic->random, 2);
}

static void agree(struct traffic *traffic)
{
    team_barrier(traffic->team, side_progress, &traffic->side);
}

static void send_batch(struct traffic *traffic)
{
    struct message *message;
    uint32_t i;

    if (!traffic->late) {
        agree(traffic); /* the receiver has posted its receives */
    }
    for (i = 0; i < traffic->count; ++i) {
        message = &traffic->messages[traffic->send_order[i]];
        data_fill(message->buffer, message->size, message->tag);
        side_send(traffic->ep, &message->op, message->buffer, message->size,
                  message->tag);
    }
    if (traffic->late) {
        agree(traffic); /* all sends are started */
    }
    for (i = 0; i < traffic->count; ++i) {
        side_complete(&traffic->side, &traffic->messages[i].op, "send");
    }
}

/* Assigns buffers. A receive by mask may get any message of its class: its
 * buffer has the size of the largest one. */
static void make_room(struct traffic *traffic)
{
    uint32_t largest[CLASSES] = {0};
    struct message *message;
    char *next = traffic->arena;
    unsigned class;
    uint32_t i;

    for (i = 0; i < traffic->count; ++i) {
        message = &traffic->messages[i];
        class   = class_of(message->tag);
        if (largest[class] < message->size) {
            largest[class] = message->size;
        }
    }
    for (i = 0; i < traffic->count; ++i) {
        message         = &traffic->messages[i];
        class           = class_of(message->tag);
        message->buffer = next;
        next += (class < FIRST_MASK) ? message->size : largest[class];
    }
}

static uint32_t room_of(const struct traffic *traffic,
                        const struct message *message)
{
    const struct message *other;
    uint32_t i, room = 0;

    if (class_of(message->tag) < FIRST_MASK) {
        return message->size;
    }
    for (i = 0; i < traffic->count; ++i) {
        other = &traffic->messages[i];
        if ((class_of(other->tag) == class_of(message->tag)) &&
            (other->size > room)) {
            room = other->size;
        }
    }
    return room;
}

static void post_batch(struct traffic *traffic)
{
    struct message *message;
    unsigned class;
    uint32_t i;

    for (i = 0; i < traffic->count; ++i) {
        message = &traffic->messages[traffic->recv_order[i]];
        class   = class_of(message->tag);
        if (class != PROBED) {
            side_recv(&traffic->side, &message->op, message->buffer,
                      room_of(traffic, message), message->tag,
                      (class < FIRST_MASK) ? ALL : CLASS_MASK);
        }
    }
}

/* Returns the message with this tag, which must be in the current batch. */
static struct message *find(struct traffic *traffic, ucp_tag_t tag)
{
    uint64_t index = (tag & ~CLASS_MASK) - traffic->first;

    if ((index >= traffic->count) || (traffic->messages[index].tag != tag)) {
        FAIL("a message with the unknown tag %llx arrived",
             (unsigned long long)tag);
    }
    return &traffic->messages[index];
}

static void check_content(struct traffic *traffic, const void *buffer,
                          const ucp_tag_recv_info_t *info)
{
    struct message *sent = find(traffic, info->sender_tag);

    EXPECT_INT(info->length, ==, sent->size);
    data_verify(buffer, info->length, info->sender_tag);
}

/* The receives of a class by mask were posted in recv_order: the n-th of them
 * must get the n-th message of the class in the order of sending. */
static void check_posted(struct traffic *traffic)
{
    int64_t last_place[CLASSES];
    struct message *posted, *sent;
    unsigned class;
    uint32_t i;

    memset(last_place, -1, sizeof(last_place));
    for (i = 0; i < traffic->count; ++i) {
        posted = &traffic->messages[traffic->recv_order[i]];
        class  = class_of(posted->tag);
        if (class == PROBED) {
            continue;
        }
        side_complete(&traffic->side, &posted->op, "receive");
        check_content(traffic, posted->buffer, &posted->op.info);
        sent = find(traffic, posted->op.info.sender_tag);
        if (class < FIRST_MASK) {
            EXPECT(sent == posted);
        } else {
            EXPECT_INT(class_of(sent->tag), ==, class);
            EXPECT_INT(sent->place, >, last_place[class]);
            last_place[class] = sent->place;
        }
    }
}

static void take_probed(struct traffic *traffic)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    ucp_tag_message_h handle;
    ucp_tag_recv_info_t info;
    ucs_status_ptr_t request;
    struct message *sent;
    int64_t last = -1;
    uint32_t i;

    for (i = 0; i < traffic->count; ++i) {
        if (class_of(traffic->messages[i].tag) != PROBED) {
            continue;
        }
        handle = side_probe_wait(&traffic->side, 0, 0, true, &info);
        sent   = find(traffic, info.sender_tag);
        EXPECT_INT(class_of(sent->tag), ==, PROBED);
        EXPECT_INT(info.length, ==, sent->size);
        EXPECT_INT(sent->place, >, last);
        last    = sent->place;
        request = ucp_tag_msg_recv_nbx(traffic->side.worker, sent->buffer,
                                       info.length, handle, &param);
        while (UCS_PTR_IS_PTR(request) &&
               (ucp_request_check_status(request) == UCS_INPROGRESS)) {
            side_progress(&traffic->side);
        }
        if (UCS_PTR_IS_PTR(request)) {
            EXPECT_OK(ucp_request_check_status(request));
            ucp_request_free(request);
        } else {
            EXPECT_OK(UCS_PTR_STATUS(request));
        }
        check_content(traffic, sent->buffer, &info);
    }
}

static void receive_batch(struct traffic *traffic)
{
    make_room(traffic);
    if (traffic->late) {
        agree(traffic);
    }
    post_batch(traffic);
    if (!traffic->late) {
        agree(traffic);
    }
    check_posted(traffic);
    take_probed(traffic);
}

static void member(struct team *team, void *arg)
{
    const uint64_t *options = arg; /* seed, number of messages */
    struct traffic *traffic = calloc(1, sizeof(*traffic));
    uint64_t left;

    EXPECT(traffic != NULL);
    traffic->team   = team;
    traffic->random = (struct random){.state = options[0]};
    /* enough for a batch in which every class has a message of MAX_SIZE */
    traffic->arena  = malloc((size_t)BATCH * MAX_SIZE);
    EXPECT(traffic->arena != NULL);
    side_open(&traffic->side, UCP_FEATURE_TAG);
    traffic->ep = side_meet(&traffic->side, team, 1 - team->rank);
    for (left = options[1]; left > 0; left -= traffic->count) {
        traffic->count = (left < BATCH) ? (uint32_t)left : BATCH;
        draw_batch(traffic);
        if (team->rank == 0) {
            send_batch(traffic);
        } else {
            receive_batch(traffic);
        }
        agree(traffic);
        traffic->first += traffic->count;
    }
    EXPECT_OK(side_close_ep(traffic->ep, 0));
    agree(traffic);
    side_close(&traffic->side);
    free(traffic->arena);
    free(traffic);
}

int main(int argc, char **argv)
{
    uint64_t options[2] = {random_seed(argc, argv), MESSAGES};
    struct team team    = {.limit = 120};
    int i;

    for (i = 1; i + 1 < argc; ++i) {
        if (strcmp(argv[i], "--messages") == 0) {
            options[1] = strtoull(argv[i + 1], NULL, 0);
        }
    }
    return team_run(&team, 2, member, options);
}
