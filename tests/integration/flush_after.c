/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A flush needs no action of a target that has completed all operations. The
 * target ends as soon as it has received a message that was sent after puts,
 * atomics and a fence; the initiator flushes afterwards.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    DRIVER,
    OWNER,
    ROUNDS = 100,
    SMALL  = 200,        /* Number of puts of 8 bytes, and of adds */
    LARGE  = 100 * 1024, /* Bytes of one put after the small ones */
    AREA   = SMALL * 8 + LARGE + 8,
};

/* What the target does after it has received the message. */
enum way { EXITS, CLOSES, CLOSES_BY_FORCE, WAYS };

static const uint64_t features = UCP_FEATURE_RMA | UCP_FEATURE_AMO64 |
                                 UCP_FEATURE_TAG;
static const ucp_tag_t ALL             = ~(ucp_tag_t)0;
static const ucp_request_param_t plain = {0};

/* ---------------------------------------------------------------- target -- */

/* Runs one target in its own process: lends memory, waits for the message,
 * verifies the memory, and ends. */
static void target(struct team *team, enum way way)
{
    static char area[AREA];
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_ADDRESS,
        .address = area,
        .length  = AREA,
    };
    uint64_t address = (uintptr_t)area, word;
    struct side_ep *ep;
    struct side side;
    ucp_mem_h memh;
    size_t size;
    void *key;
    int i;

    side_open(&side, features);
    EXPECT_OK(ucp_mem_map(side.context, &params, &memh));
    EXPECT_OK(ucp_memh_pack(memh, NULL, &key, &size));
    ep = side_meet(&side, team, DRIVER);
    team_put(team, DRIVER, &address, sizeof(address));
    team_put(team, DRIVER, &size, sizeof(size));
    team_put(team, DRIVER, key, size);
    ucp_memh_buffer_release(key, NULL);

    side_recv_wait(&side, &word, sizeof(word), 1, ALL);
    for (i = 0; i < SMALL; ++i) {
        memcpy(&word, area + 8 * i, sizeof(word));
        EXPECT_INT(word, ==, i + 1);
    }
    data_verify(area + SMALL * 8, LARGE, 5);
    memcpy(&word, area + AREA - 8, sizeof(word));
    EXPECT_INT(word, ==, SMALL);
    if (way == EXITS) {
        _exit(0);
    }
    /* The initiator calls progress, but does not flush or close before this
     * process has ended: the close must not wait for that. */
    side_close_ep(ep, (way == CLOSES) ? 0 : UCP_EP_CLOSE_FLAG_FORCE);
    EXPECT_OK(ucp_mem_unmap(side.context, memh));
    side_close(&side);
    _exit(0);
}

static void run_targets(struct team *team)
{
    char done = 1;
    int round, status;
    pid_t child;

    for (round = 0; round < ROUNDS; ++round) {
        child = fork();
        EXPECT(child >= 0);
        if (child == 0) {
            target(team, round % WAYS);
        }
        EXPECT_INT(waitpid(child, &status, 0), ==, child);
        EXPECT(WIFEXITED(status) && (WEXITSTATUS(status) == 0));
        team_put(team, DRIVER, &done, sizeof(done));
    }
}

/* ------------------------------------------------------------- initiator -- */

static ucp_ep_h connect_plainly(struct side *side, struct team *team)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    ucp_ep_h ep;

    side_put_address(side, team, OWNER);
    params.address = side_get_address(team, OWNER);
    EXPECT_OK(ucp_ep_create(side->worker, &params, &ep));
    free((void *)params.address);
    return ep;
}

static void put_all(struct side *side, ucp_ep_h ep, uint64_t address,
                    ucp_rkey_h rkey, const char *large)
{
    const ucp_request_param_t word_param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_contig(8),
    };
    uint64_t words[SMALL], one = 1;
    ucs_status_ptr_t request;
    int i;

    for (i = 0; i < SMALL; ++i) {
        words[i] = (uint64_t)i + 1;
        request  = ucp_put_nbx(ep, &words[i], 8, address + 8 * i, rkey, &plain);
        EXPECT_OK(side_wait(side, request, "put"));
        request = ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &one, 1,
                                    address + AREA - 8, rkey, &word_param);
        EXPECT_OK(side_wait(side, request, "add"));
    }
    request = ucp_put_nbx(ep, large, LARGE, address + SMALL * 8, rkey, &plain);
    EXPECT_OK(side_wait(side, request, "put"));
}

/* Flushes the endpoint or the worker after the target has ended. Every fifth
 * round flushes both once more, some time later. */
static void flush_alone(struct side *side, ucp_ep_h ep, int round)
{
    if (round % 2 == 0) {
        EXPECT_OK(side_flush_worker(side));
    } else {
        EXPECT_OK(side_wait(side, ucp_ep_flush_nbx(ep, &plain), "flush"));
    }
    if (round % 5 == 0) {
        /* by then the initiator has handled all events of the target's end */
        side_linger(side, 0.01);
        EXPECT_OK(side_wait(side, ucp_ep_flush_nbx(ep, &plain), "flush"));
        EXPECT_OK(side_flush_worker(side));
    }
}

static void drive(struct team *team)
{
    const ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };
    char *large   = malloc(LARGE), done;
    uint64_t word = 0, address;
    struct side side;
    ucp_rkey_h rkey;
    size_t size;
    ucp_ep_h ep;
    void *key;
    int round;

    side_open(&side, features);
    data_fill(large, LARGE, 5);
    for (round = 0; round < ROUNDS; ++round) {
        ep = connect_plainly(&side, team);
        team_get(team, OWNER, &address, sizeof(address));
        team_get(team, OWNER, &size, sizeof(size));
        key = malloc(size);
        team_get(team, OWNER, key, size);
        EXPECT_OK(ucp_ep_rkey_unpack(ep, key, &rkey));
        free(key);

        put_all(&side, ep, address, rkey, large);
        EXPECT_OK(ucp_worker_fence(side.worker));
        EXPECT_OK(
            side_wait(&side,
                      ucp_tag_send_nbx(ep, &word, sizeof(word), 1, &plain),
                      "message"));
        team_get_progressing(team, OWNER, &done, sizeof(done), side_progress,
                             &side);
        flush_alone(&side, ep, round);
        ucp_rkey_destroy(rkey);
        EXPECT_OK(side_wait(&side, ucp_ep_close_nbx(ep, &force), "close"));
    }
    side_close(&side);
    free(large);
}

static void member(struct team *team, void *arg)
{
    (void)arg;
    if (team->rank == DRIVER) {
        drive(team);
    } else {
        run_targets(team);
    }
}

int main(void)
{
    struct team team = {.limit = 120};

    return team_run(&team, 2, member, NULL);
}
