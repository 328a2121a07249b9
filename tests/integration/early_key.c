/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client unpacks a remote key on an endpoint that is not connected yet. The
 * key is usable at once: operations with it are carried out by messages, which
 * are sent when the endpoint has lanes. The key compares equal to one that is
 * unpacked on the connected endpoint.
 *
 * --alone: the owner of the memory makes no progress while the client accesses
 * it with such a key. This needs transports that copy between two processes of
 * one host.
 */
#include "common/data.h"
#include "common/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWNER, CLIENT, LENGTH = 1 << 20, KEY_MAX = 4096 };

static const uint64_t features = UCP_FEATURE_RMA | UCP_FEATURE_TAG;

static const ucp_request_param_t plain = {0};

/* What the owner sends to the client: address, packed key and its length. */
struct lent {
    uint64_t address;
    size_t size;
    char key[KEY_MAX];
};

static bool alone;

static void agree(struct team *team, struct side *side)
{
    team_barrier(team, side_progress, side);
}

/* ----------------------------------------------------------------- owner -- */

static ucp_mem_h lend(struct side *side, void *memory, struct lent *lent)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = memory,
        .length  = LENGTH,
    };
    ucp_mem_h memh;
    size_t size;
    void *key;

    EXPECT_OK(ucp_mem_map(side->context, &params, &memh));
    EXPECT_OK(ucp_memh_pack(memh, NULL, &key, &size));
    EXPECT_INT(size, <=, KEY_MAX);
    lent->address = (uintptr_t)memory;
    lent->size    = size;
    memcpy(lent->key, key, size);
    ucp_memh_buffer_release(key, NULL);
    return memh;
}

static void own(struct team *team)
{
    char *memory     = malloc(LENGTH);
    struct lent lent = {0};
    struct server server;
    struct side_ep *ep;
    struct side side;
    ucp_mem_h memh;
    int word;

    side_open(&side, features);
    memh = lend(&side, memory, &lent);
    server_open(&server, &side, "127.0.0.1", false);
    team_put(team, CLIENT, &lent, sizeof(lent));
    server_tell(&server, team, CLIENT);
    server_next(&server);
    ep = server_accept(&server, &side);
    agree(team, &side);
    data_verify(memory, LENGTH, 1);
    agree(team, &side);
    if (alone) {
        team_get(team, CLIENT, &word, sizeof(word)); /* without progress */
    }
    agree(team, &side);
    data_verify(memory, LENGTH, 2);
    agree(team, &side);
    side_close_ep(ep, UCP_EP_CLOSE_FLAG_FORCE);
    server_close(&server);
    EXPECT_OK(ucp_mem_unmap(side.context, memh));
    side_close(&side);
    free(memory);
}

/* ---------------------------------------------------------------- client -- */

static void put(struct side_ep *ep, const struct lent *lent, ucp_rkey_h rkey,
                unsigned seed)
{
    char *data = malloc(LENGTH);

    data_fill(data, LENGTH, seed);
    EXPECT_OK(side_wait(ep->side,
                        ucp_put_nbx(ep->ep, data, LENGTH, lent->address, rkey,
                                    &plain),
                        "put"));
    EXPECT_OK(side_flush(ep));
    free(data);
}

static bool is_equal(struct side *side, ucp_rkey_h a, ucp_rkey_h b)
{
    ucp_rkey_compare_params_t params = {0};
    int result;

    EXPECT_OK(ucp_rkey_compare(side->worker, a, b, &params, &result));
    return result == 0;
}

/* The early key compares equal to a key that is unpacked now. This is checked
 * only if two keys that are unpacked now compare equal: for some transports
 * they do not. */
static void check_alike(struct side_ep *ep, const struct lent *lent,
                        ucp_rkey_h early)
{
    ucp_rkey_h late[2];
    int i;

    for (i = 0; i < 2; ++i) {
        EXPECT_OK(ucp_ep_rkey_unpack(ep->ep, lent->key, &late[i]));
    }
    EXPECT(is_equal(ep->side, early, late[0]) ||
           !is_equal(ep->side, late[0], late[1]));
    for (i = 0; i < 2; ++i) {
        ucp_rkey_destroy(late[i]);
    }
}

static void be_client(struct team *team)
{
    struct sockaddr_storage address;
    ucp_rkey_h early, unused;
    struct side_ep *ep;
    struct lent lent;
    struct side side;
    int word = 0;

    side_open(&side, features);
    team_get_progressing(team, OWNER, &lent, sizeof(lent), side_progress,
                         &side);
    address = server_learn(team, OWNER);
    ep      = server_connect(&side, &address, 0);
    EXPECT_OK(ucp_ep_rkey_unpack(ep->ep, lent.key, &early));
    EXPECT_OK(ucp_ep_rkey_unpack(ep->ep, lent.key, &unused));
    EXPECT(is_equal(&side, early, unused));
    put(ep, &lent, early, 1); /* starts before the endpoint has lanes */
    agree(team, &side);
    agree(team, &side);

    put(ep, &lent, early, 2);
    check_alike(ep, &lent, early);
    EXPECT(is_equal(&side, early, unused)); /* also after one was used */
    if (alone) {
        team_put(team, OWNER, &word, sizeof(word));
    }
    agree(team, &side);
    agree(team, &side);
    ucp_rkey_destroy(early);
    ucp_rkey_destroy(unused);
    side_close_ep(ep, UCP_EP_CLOSE_FLAG_FORCE);
    side_close(&side);
}

static void member(struct team *team, void *arg)
{
    (void)arg;
    if (team->rank == OWNER) {
        own(team);
    } else {
        be_client(team);
    }
}

int main(int argc, char **argv)
{
    struct team team = {.limit = 60};

    alone = team_asked(argc, argv, "--alone");
    if (alone) {
        /* Under a sanitizer, the measured cost of copies between the processes
         * can be so high that UCP selects messages, which need the owner's
         * progress. */
        setenv("UCX_PROTO_MEASURE", "n", 1);
    }
    return team_run(&team, 2, member, NULL);
}
