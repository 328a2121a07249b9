/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ep: after flushed puts, and large messages that the peer has received, a
 * close with flush completes although the peer makes no progress. Programs need
 * this when they close one after the other, or when the peer waits elsewhere.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdlib.h>

enum { CLOSER, IDLER, MESSAGES = 20, SIZE = 1024 * 1024 };

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    char *buffer;   /* SIZE bytes */
    ucp_mem_h memh; /* Handle of `memory` */
    void *memory;   /* SIZE bytes; CLOSER puts data into that of IDLER */
};

static void agree(struct talk *talk)
{
    team_barrier(talk->team, side_progress, &talk->side);
}

static void map_memory(struct talk *talk)
{
    const ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .length = SIZE,
        .flags  = UCP_MEM_MAP_ALLOCATE,
    };
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};

    EXPECT_OK(ucp_mem_map(talk->side.context, &params, &talk->memh));
    EXPECT_OK(ucp_mem_query(talk->memh, &attr));
    talk->memory = attr.address;
}

static void hand_out_key(struct talk *talk)
{
    uint64_t address = (uintptr_t)talk->memory;
    size_t length;
    void *key;

    EXPECT_OK(ucp_rkey_pack(talk->side.context, talk->memh, &key, &length));
    team_put(talk->team, CLOSER, &address, sizeof(address));
    team_put(talk->team, CLOSER, &length, sizeof(length));
    team_put(talk->team, CLOSER, key, length);
    ucp_rkey_buffer_release(key);
}

static ucp_rkey_h take_key(struct talk *talk, uint64_t *address)
{
    ucp_rkey_h rkey;
    size_t length;
    void *key;

    team_get_progressing(talk->team, IDLER, address, sizeof(*address),
                         side_progress, &talk->side);
    team_get(talk->team, IDLER, &length, sizeof(length));
    key = malloc(length);
    EXPECT(key != NULL);
    team_get(talk->team, IDLER, key, length);
    EXPECT_OK(ucp_ep_rkey_unpack(talk->ep->ep, key, &rkey));
    free(key);
    return rkey;
}

/* Puts and flushes several times, because a flush may complete at once or only
 * when the peer acknowledges it. */
static void put_and_flush(struct talk *talk)
{
    static const ucp_request_param_t plain = {0};
    uint64_t address;
    ucp_rkey_h rkey;
    int i;

    rkey = take_key(talk, &address);
    for (i = 0; i < MESSAGES; ++i) {
        EXPECT_OK(side_wait(&talk->side,
                            ucp_put_nbx(talk->ep->ep, talk->buffer, SIZE,
                                        address, rkey, &plain),
                            "a put"));
        EXPECT_OK((i % 2) ? side_flush_worker(&talk->side) :
                            side_flush(talk->ep));
    }
    ucp_rkey_destroy(rkey);
}

static void close_alone(struct talk *talk)
{
    int i;

    if (talk->team->rank == CLOSER) {
        data_fill(talk->buffer, SIZE, 1);
        put_and_flush(talk);
        for (i = 0; i < MESSAGES; ++i) {
            side_send_wait(talk->ep, talk->buffer, SIZE, (ucp_tag_t)i);
        }
        agree(talk);
        EXPECT_OK(side_close_ep(talk->ep, 0));
        team_barrier(talk->team, NULL, NULL);
    } else {
        hand_out_key(talk);
        for (i = 0; i < MESSAGES; ++i) {
            EXPECT_INT(side_recv_wait(&talk->side, talk->buffer, SIZE,
                                      (ucp_tag_t)i, ALL),
                       ==, SIZE);
            data_verify(talk->buffer, SIZE, 1);
        }
        agree(talk);
        data_verify(talk->memory, SIZE, 1);
        team_barrier(talk->team, NULL, NULL);
        side_close_ep(talk->ep, UCP_EP_CLOSE_FLAG_FORCE);
    }
}

static void member(struct team *team, void *arg)
{
    struct talk talk = {.team = team, .buffer = calloc(1, SIZE)};

    (void)arg;
    EXPECT(talk.buffer != NULL);
    side_open(&talk.side, UCP_FEATURE_TAG | UCP_FEATURE_RMA);
    map_memory(&talk);
    talk.ep = side_meet(&talk.side, team, 1 - team->rank);
    agree(&talk);
    close_alone(&talk);
    EXPECT_OK(ucp_mem_unmap(talk.side.context, talk.memh));
    side_close(&talk.side);
    free(talk.buffer);
}

int main(void)
{
    struct team team = {.limit = 60};

    /* By put_zcopy the sender of a rendezvous message puts the data. The user
     * does not flush these puts, so that the close has to. */
    setenv("UCX_RNDV_SCHEME", "put_zcopy", 0);
    return team_run(&team, 2, member, NULL);
}
