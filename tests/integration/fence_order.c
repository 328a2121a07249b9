/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_worker_fence() orders put, get and atomics before every later operation
 * on the endpoint: when a message that was sent after the fence has arrived,
 * puts and atomics are complete in memory, and gets have fetched their data.
 * Messages after a fence keep their order, and a close loses none of them.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdlib.h>
#include <string.h>

enum {
    DRIVER,
    OWNER,
    LARGE  = 64 * 1024 * 1024,
    MEDIUM = 16 * 1024 * 1024,
    /* Number of 64-bit words after the LARGE bytes, for atomics */
    WORDS  = 64,
    RNDV   = 1024 * 1024, /* Bytes of a rendezvous message */
    /* The test of message order sends 2 * CHAIN messages */
    CHAIN  = 40,
};

/* The message that is sent after the fence, by which the owner learns that the
 * operations are complete. */
enum kind { TAG_EAGER, TAG_RNDV, AM_EAGER, AM_RNDV, STREAM, KINDS };

static const uint64_t features = UCP_FEATURE_RMA | UCP_FEATURE_AMO64 |
                                 UCP_FEATURE_TAG | UCP_FEATURE_AM |
                                 UCP_FEATURE_STREAM;
static const ucp_tag_t ALL             = ~(ucp_tag_t)0;
static const ucp_request_param_t plain = {0};

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    char *memory;  /* Memory that the owner lends, or the driver's buffer */
    char *message; /* RNDV bytes */
    ucp_mem_h memh;
    uint64_t address;
    ucp_rkey_h rkey;
    unsigned am_count; /* Number of active messages received in this transfer */
    ucs_status_ptr_t am_request;
};

static void agree(struct talk *talk)
{
    team_barrier(talk->team, side_progress, &talk->side);
}

static ucs_status_t on_am(void *arg, const void *header, size_t header_length,
                          void *data, size_t length,
                          const ucp_am_recv_param_t *param)
{
    struct talk *talk = arg;

    (void)header;
    (void)header_length;
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        EXPECT_INT(length, ==, RNDV);
        talk->am_request = ucp_am_recv_data_nbx(talk->side.worker, data,
                                                talk->message, length, &plain);
    }
    ++talk->am_count;
    return UCS_OK;
}

static void set_handler(struct talk *talk)
{
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id  = 1,
        .cb  = on_am,
        .arg = talk,
    };

    EXPECT_OK(ucp_worker_set_am_recv_handler(talk->side.worker, &param));
}

static ucs_status_ptr_t send_message(struct talk *talk, enum kind kind)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = (kind == AM_RNDV) ? UCP_AM_SEND_FLAG_RNDV : 0,
    };

    switch (kind) {
    case TAG_EAGER:
        return ucp_tag_send_nbx(talk->ep->ep, talk->message, 8, 1, &plain);
    case TAG_RNDV:
        return ucp_tag_send_nbx(talk->ep->ep, talk->message, RNDV, 1, &plain);
    case AM_EAGER:
    case AM_RNDV:
        return ucp_am_send_nbx(talk->ep->ep, 1, NULL, 0, talk->message,
                               (kind == AM_RNDV) ? RNDV : 8, &param);
    default:
        return ucp_stream_send_nbx(talk->ep->ep, talk->message, 8, &plain);
    }
}

/* Waits for the message that the driver sends after the fence, and returns as
 * soon as it has arrived. */
static void receive_message(struct talk *talk, enum kind kind)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_STREAM_RECV_FLAG_WAITALL,
    };
    double deadline = test_now() + test_seconds(30);
    size_t length;

    switch (kind) {
    case TAG_EAGER:
    case TAG_RNDV:
        side_recv_wait(&talk->side, talk->message, RNDV, 1, ALL);
        break;
    case AM_EAGER:
    case AM_RNDV:
        while (talk->am_count == 0) {
            side_progress(&talk->side);
            EXPECT(test_now() < deadline);
        }
        talk->am_count = 0;
        if (kind == AM_RNDV) {
            EXPECT_OK(side_wait(&talk->side, talk->am_request, "receive"));
        }
        break;
    default:
        EXPECT_OK(side_wait(&talk->side,
                            ucp_stream_recv_nbx(talk->ep->ep, talk->message, 8,
                                                &length, &param),
                            "stream"));
    }
}

/* Expects `value` in all bytes of the area. The last byte is checked first: it
 * is usually written last, so that an incomplete put is most likely found
 * there. */
static void verify(const char *area, size_t length, char value)
{
    EXPECT_INT(area[length - 1], ==, value);
    EXPECT_INT(area[0], ==, value);
    EXPECT_INT(memcmp(area, area + 1, length - 1), ==, 0);
}

static ucs_status_ptr_t put(struct talk *talk, size_t length)
{
    ucs_status_ptr_t request = ucp_put_nbx(talk->ep->ep, talk->memory, length,
                                           talk->address, talk->rkey, &plain);

    EXPECT(!UCS_PTR_IS_ERR(request));
    return request;
}

static void put_then_message(struct talk *talk, size_t length, enum kind kind,
                             char value)
{
    ucs_status_ptr_t request, message;

    if (talk->team->rank == DRIVER) {
        memset(talk->memory, value, length);
        request = put(talk, length);
        EXPECT_OK(ucp_worker_fence(talk->side.worker));
        message = send_message(talk, kind);
        EXPECT_OK(side_wait(&talk->side, message, "message"));
        EXPECT_OK(side_wait(&talk->side, request, "put"));
    } else {
        receive_message(talk, kind);
        verify(talk->memory, length, value);
    }
    agree(talk);
}

/* A get, a fence and a message. The owner changes its memory as soon as the
 * message has arrived; the get must have fetched the data before. */
static void get_then_message(struct talk *talk, size_t length, enum kind kind,
                             char value)
{
    ucs_status_ptr_t request, message;

    if (talk->team->rank == OWNER) {
        memset(talk->memory, value, length);
        agree(talk);
        receive_message(talk, kind);
        memset(talk->memory, 0, length);
    } else {
        agree(talk);
        request = ucp_get_nbx(talk->ep->ep, talk->memory, length, talk->address,
                              talk->rkey, &plain);
        EXPECT_OK(ucp_worker_fence(talk->side.worker));
        message = send_message(talk, kind);
        EXPECT_OK(side_wait(&talk->side, request, "get"));
        EXPECT_OK(side_wait(&talk->side, message, "message"));
        verify(talk->memory, length, value);
    }
    agree(talk);
}

static void add_then_message(struct talk *talk, enum kind kind)
{
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_contig(8),
    };
    uint64_t one = 1, expected = 7;
    uint64_t *words = (uint64_t *)(talk->memory + LARGE);
    ucs_status_ptr_t request, message;
    int i, j;

    if (talk->team->rank == DRIVER) {
        for (j = 0; j < 7; ++j) {
            for (i = 0; i < WORDS; ++i) {
                request = ucp_atomic_op_nbx(talk->ep->ep, UCP_ATOMIC_OP_ADD,
                                            &one, 1,
                                            talk->address + LARGE + 8 * i,
                                            talk->rkey, &param);
                EXPECT_OK(side_wait(&talk->side, request, "add"));
            }
        }
        EXPECT_OK(ucp_worker_fence(talk->side.worker));
        message = send_message(talk, kind);
        EXPECT_OK(side_wait(&talk->side, message, "message"));
    } else {
        receive_message(talk, kind);
        for (i = 0; i < WORDS; ++i) {
            EXPECT_INT(words[i], ==, expected);
        }
        memset(words, 0, WORDS * sizeof(*words));
    }
    agree(talk);
}

/* ----------------------------------------------------------------- order -- */

struct chain {
    struct talk *talk;
    uint32_t numbers[2 * CHAIN];
    uint32_t sent; /* Number of messages sent; also the next message's number */
    unsigned done;
};

static void on_chain(void *request, ucs_status_t status, void *arg);

static void send_next(struct chain *chain)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send   = on_chain,
        .user_data = chain,
    };
    uint32_t *number = &chain->numbers[chain->sent];
    ucs_status_ptr_t request;

    *number = chain->sent++;
    request = ucp_tag_send_nbx(chain->talk->ep->ep, number, sizeof(*number), 2,
                               &param);
    if (UCS_PTR_IS_PTR(request)) {
        return;
    }
    EXPECT_OK(UCS_PTR_STATUS(request));
    ++chain->done;
}

/* Callback of a send: sends another message. It must arrive after those that
 * are still delayed by the fence. */
static void on_chain(void *request, ucs_status_t status, void *arg)
{
    struct chain *chain = arg;

    EXPECT_OK(status);
    ++chain->done;
    ucp_request_free(request);
    if (chain->sent < 2 * CHAIN) {
        send_next(chain);
    }
}

static void messages_keep_their_order(struct talk *talk)
{
    struct chain chain = {.talk = talk};
    double deadline;
    ucs_status_ptr_t request;
    uint32_t number;
    int i;

    if (talk->team->rank == DRIVER) {
        request = put(talk, MEDIUM);
        for (i = 0; i < CHAIN; ++i) {
            if (i % 10 == 0) {
                EXPECT_OK(ucp_worker_fence(talk->side.worker));
            }
            send_next(&chain);
        }
        deadline = test_now() + test_seconds(30);
        while (chain.done < chain.sent) {
            side_progress(&talk->side);
            EXPECT(test_now() < deadline);
        }
        while (chain.sent < 2 * CHAIN) {
            /* sends that complete at once call no callback: send the rest
             * here */
            send_next(&chain);
        }
        while (chain.done < chain.sent) {
            side_progress(&talk->side);
            EXPECT(test_now() < deadline);
        }
        EXPECT_OK(side_wait(&talk->side, request, "put"));
    } else {
        for (i = 0; i < 2 * CHAIN; ++i) {
            side_recv_wait(&talk->side, &number, sizeof(number), 2, ALL);
            EXPECT_INT(number, ==, i);
        }
    }
    agree(talk);
}

/* Closes the endpoint while data of its stream waits for the fence. The owner
 * receives all of it. */
static void close_loses_nothing(struct talk *talk)
{
    const size_t length       = 1000;
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_STREAM_RECV_FLAG_WAITALL,
    };
    ucs_status_ptr_t put_request, request;
    size_t got;

    if (talk->team->rank == DRIVER) {
        put_request = put(talk, MEDIUM);
        EXPECT_OK(ucp_worker_fence(talk->side.worker));
        data_fill(talk->message, length, 3);
        request = ucp_stream_send_nbx(talk->ep->ep, talk->message, length,
                                      &plain);
        EXPECT_OK(side_close_ep(talk->ep, 0));
        EXPECT_OK(side_wait(&talk->side, request, "stream"));
        EXPECT_OK(side_wait(&talk->side, put_request, "put"));
    } else {
        EXPECT_OK(side_wait(&talk->side,
                            ucp_stream_recv_nbx(talk->ep->ep, talk->message,
                                                length, &got, &param),
                            "stream"));
        data_verify(talk->message, length, 3);
        EXPECT_STATUS(side_wait(&talk->side,
                                ucp_stream_recv_nbx(talk->ep->ep, talk->message,
                                                    length, &got, &param),
                                "stream"),
                      UCS_ERR_CONNECTION_RESET);
    }
    agree(talk);
}

/* ------------------------------------------------------------------- all -- */

static void swap_key(struct talk *talk)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_ADDRESS,
        .address = talk->memory,
        .length  = LARGE + WORDS * 8,
    };
    size_t size;
    void *key;

    if (talk->team->rank == OWNER) {
        EXPECT_OK(ucp_mem_map(talk->side.context, &params, &talk->memh));
        EXPECT_OK(ucp_memh_pack(talk->memh, NULL, &key, &size));
        talk->address = (uintptr_t)talk->memory;
        team_put(talk->team, DRIVER, &talk->address, sizeof(talk->address));
        team_put(talk->team, DRIVER, &size, sizeof(size));
        team_put(talk->team, DRIVER, key, size);
        ucp_memh_buffer_release(key, NULL);
    } else {
        team_get(talk->team, OWNER, &talk->address, sizeof(talk->address));
        team_get(talk->team, OWNER, &size, sizeof(size));
        key = malloc(size);
        team_get(talk->team, OWNER, key, size);
        EXPECT_OK(ucp_ep_rkey_unpack(talk->ep->ep, key, &talk->rkey));
        free(key);
    }
}

static void member(struct team *team, void *arg)
{
    struct talk talk = {
        .team    = team,
        .memory  = aligned_alloc(4096, LARGE + 4096),
        .message = calloc(1, RNDV),
    };
    char value = 0;
    int kind, i;

    (void)arg;
    EXPECT((talk.memory != NULL) && (talk.message != NULL));
    memset(talk.memory, 0, LARGE + 4096);
    side_open(&talk.side, features);
    set_handler(&talk);
    talk.ep = side_meet(&talk.side, team, 1 - team->rank);
    swap_key(&talk);
    agree(&talk);

    for (kind = 0; kind < KINDS; ++kind) {
        put_then_message(&talk, LARGE, kind, ++value);
        for (i = 0; i < 3; ++i) {
            put_then_message(&talk, MEDIUM, kind, ++value);
        }
        get_then_message(&talk, MEDIUM, kind, ++value);
        add_then_message(&talk, kind);
    }
    for (i = 0; i < 5; ++i) {
        messages_keep_their_order(&talk);
    }
    close_loses_nothing(&talk);
    if (team->rank == OWNER) {
        EXPECT_OK(ucp_mem_unmap(talk.side.context, talk.memh));
    } else {
        ucp_rkey_destroy(talk.rkey);
    }
    side_close(&talk.side);
    free(talk.message);
    free(talk.memory);
}

int main(void)
{
    struct team team = {.limit = 120};

    return team_run(&team, 2, member, NULL);
}
