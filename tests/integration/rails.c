/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two hosts (network namespaces) connected by two links. Large transfers are
 * divided between the links, as the byte counters of the network interfaces
 * show. If a host has only one device, transfers use one link; devices that
 * lead to no peer are not used; transfers survive the failure of a link.
 *
 * --given: the two links exist already (tests/vm). Arguments: the network
 * devices of the sender at links 0 and 1, those of the receiver, and the values
 * of UCX_NET_DEVICES for both.
 *
 * --down: one link goes down while the hosts are connected by both.
 *
 * --measure: no test; prints the bandwidths of one link and of both, each
 * limited to RAILS_MBIT Mbit/s (default 1000).
 */
#include "common/data.h"
#include "common/net.h"
#include "common/side.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LARGE    = 4 << 20,
    MESSAGES = 6,
    TOTAL    = MESSAGES * LARGE,
    SENDER   = 0,
    RECEIVER = 1,
};

static const ucp_tag_t ALL             = ~(ucp_tag_t)0;
static const ucp_request_param_t plain = {0};

struct rails {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    char *memory; /* TOTAL bytes, registered for the peer */
    ucp_mem_h memh;
    uint64_t address; /* Address and key of the peer's `memory` */
    ucp_rkey_h rkey;
    /* Duration of the last transfers in seconds, without verification */
    double spent;
};

static void agree(struct rails *rails)
{
    team_barrier(rails->team, side_progress, &rails->side);
}

/* Registers `memory` and exchanges its key and address with the peer. */
static void lend(struct rails *rails)
{
    int other                   = 1 - rails->team->rank;
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_ADDRESS,
        .length  = TOTAL,
        .address = rails->memory,
    };
    uint64_t own = (uintptr_t)rails->memory;
    size_t size;
    void *key;

    EXPECT_OK(ucp_mem_map(rails->side.context, &params, &rails->memh));
    EXPECT_OK(ucp_memh_pack(rails->memh, NULL, &key, &size));
    team_put(rails->team, other, &own, sizeof(own));
    team_put(rails->team, other, &size, sizeof(size));
    team_put(rails->team, other, key, size);
    ucp_memh_buffer_release(key, NULL);

    team_get(rails->team, other, &rails->address, sizeof(rails->address));
    team_get(rails->team, other, &size, sizeof(size));
    key = malloc(size);
    EXPECT(key != NULL);
    team_get(rails->team, other, key, size);
    EXPECT_OK(ucp_ep_rkey_unpack(rails->ep->ep, key, &rails->rkey));
    free(key);
}

static void start(struct rails *rails, struct team *team)
{
    memset(rails, 0, sizeof(*rails));
    rails->team   = team;
    rails->memory = malloc(TOTAL);
    EXPECT(rails->memory != NULL);
    side_open(&rails->side, UCP_FEATURE_TAG | UCP_FEATURE_RMA);
    rails->ep = side_meet(&rails->side, team, 1 - team->rank);
    lend(rails);
}

static void end(struct rails *rails)
{
    agree(rails);
    ucp_rkey_destroy(rails->rkey);
    EXPECT_INT(rails->ep->failures, ==, 0);
    side_close_ep(rails->ep, 0);
    agree(rails);
    EXPECT_OK(ucp_mem_unmap(rails->side.context, rails->memh));
    side_close(&rails->side);
    free(rails->memory);
}

/* ------------------------------------------------------------- transfers -- */

/* Allocates MESSAGES consecutive messages of LARGE bytes. */
static char *messages_new(void)
{
    char *data = malloc(TOTAL);

    EXPECT(data != NULL);
    return data;
}

static void messages_fill(char *data, uint64_t first)
{
    uint64_t i;

    for (i = 0; i < MESSAGES; ++i) {
        data_fill(data + (i * LARGE), LARGE, first + i);
    }
}

static void messages_verify(const char *data, uint64_t first)
{
    uint64_t i;

    for (i = 0; i < MESSAGES; ++i) {
        data_verify(data + (i * LARGE), LARGE, first + i);
    }
}

static void send_all(struct rails *rails, int count)
{
    char *data = messages_new();
    struct side_op ops[MESSAGES];
    double begin;
    int i;

    EXPECT_INT(count, <=, MESSAGES);
    messages_fill(data, (rails->team->rank == SENDER) ? 1 : 50);
    agree(rails);
    begin = test_now();
    for (i = 0; i < count; ++i) {
        if (rails->team->rank == SENDER) {
            side_send(rails->ep, &ops[i], data + (i * LARGE), LARGE,
                      (ucp_tag_t)i);
        } else {
            side_recv(&rails->side, &ops[i], data + (i * LARGE), LARGE,
                      (ucp_tag_t)i, ALL);
        }
    }
    for (i = 0; i < count; ++i) {
        side_complete(&rails->side, &ops[i], "large message");
    }
    rails->spent = test_now() - begin;
    for (i = 0; i < count; ++i) {
        data_verify(data + (i * LARGE), LARGE, 1 + (uint64_t)i);
    }
    free(data);
}

/* This side puts or gets all messages at once, and flushes. */
static void access_all(struct rails *rails, bool put, char *data)
{
    ucp_ep_h ep = rails->ep->ep;
    ucs_status_ptr_t requests[MESSAGES];
    double begin = test_now();
    size_t at;
    int i;

    for (i = 0, at = 0; i < MESSAGES; ++i, at += LARGE) {
        requests[i] = put ?
                          ucp_put_nbx(ep, data + at, LARGE, rails->address + at,
                                      rails->rkey, &plain) :
                          ucp_get_nbx(ep, data + at, LARGE, rails->address + at,
                                      rails->rkey, &plain);
    }
    for (i = 0; i < MESSAGES; ++i) {
        EXPECT_OK(side_wait(&rails->side, requests[i], put ? "put" : "get"));
    }
    EXPECT_OK(side_flush(rails->ep));
    rails->spent = test_now() - begin;
}

static void put_all(struct rails *rails)
{
    char *data = messages_new();

    messages_fill(data, 100);
    memset(rails->memory, 0, TOTAL);
    agree(rails);
    if (rails->team->rank == SENDER) {
        access_all(rails, true, data);
    }
    agree(rails);
    if (rails->team->rank == RECEIVER) {
        messages_verify(rails->memory, 100);
    }
    agree(rails);
    free(data);
}

static void get_by(struct rails *rails, int reader)
{
    char *data = messages_new();

    messages_fill(rails->memory, 200);
    memset(data, 0, TOTAL);
    agree(rails);
    if (rails->team->rank == reader) {
        access_all(rails, false, data);
        messages_verify(data, 200);
    }
    agree(rails);
    free(data);
}

static void get_all(struct rails *rails)
{
    get_by(rails, RECEIVER);
}

/* ----------------------------------------------------------------- cases -- */

/* Returns, for each link, the bytes that the sender has sent since the last
 * call of this function, in thousandths of TOTAL. The counters are those of the
 * calling side's devices; only the sender's matter. */
static void shares(struct rails *rails, int share[NET_LINKS])
{
    static uint64_t before[NET_LINKS];
    int link;

    agree(rails);
    for (link = 0; link < NET_LINKS; ++link) {
        uint64_t now = net_bytes(rails->team, link);

        share[link]  = (int)((now - before[link]) * 1000 / TOTAL);
        before[link] = now;
    }
}

/* Expects that each link carried more than 40 % of the data, or with `both`
 * false that one of them carried nearly all of it. */
static void expect_shares(struct rails *rails, bool both)
{
    int share[NET_LINKS];

    shares(rails, share);
    if (rails->team->rank != SENDER) {
        return;
    }
    if (both) {
        EXPECT_INT(share[0], >, 400);
        EXPECT_INT(share[1], >, 400);
    } else {
        EXPECT_INT(share[0] + share[1], >, 900);
        EXPECT((share[0] < 100) || (share[1] < 100));
    }
}

static void scene(struct team *team, bool rndv_both, bool rma_both)
{
    struct rails rails;
    int share[NET_LINKS];

    start(&rails, team);
    shares(&rails, share);
    send_all(&rails, MESSAGES);
    expect_shares(&rails, rndv_both);
    put_all(&rails);
    expect_shares(&rails, rma_both);
    get_all(&rails);
    expect_shares(&rails, rma_both);
    end(&rails);
}

static void member(struct team *team, void *arg)
{
    static const char *const ways[] = {"auto", "get_zcopy", "put_zcopy"};
    int i;

    (void)arg;
    net_dead_end(team);
    net_join_again(team);
    for (i = 0; i < 3; ++i) {
        setenv("UCX_RNDV_SCHEME", ways[i], 1);
        setenv("UCX_MAX_RMA_LANES", "2", 1);
        scene(team, true, true);
    }
    setenv("UCX_RNDV_SCHEME", "auto", 1);

    /* the default numbers of lanes: two for rendezvous, one for put and get;
     * then one for both */
    unsetenv("UCX_MAX_RMA_LANES");
    scene(team, true, false);
    setenv("UCX_MAX_RNDV_LANES", "1", 1);
    scene(team, false, false);
    unsetenv("UCX_MAX_RNDV_LANES");

    /* the receiver has only one device, that of the second link */
    setenv("UCX_MAX_RMA_LANES", "2", 1);
    if (team->rank == RECEIVER) {
        setenv("UCX_NET_DEVICES", net_device(RECEIVER, 1), 1);
    }
    scene(team, false, false);
    unsetenv("UCX_NET_DEVICES");
    /* More lanes than links are allowed: the device that leads to no peer is
     * not used. */
    setenv("UCX_MAX_RNDV_LANES", "4", 1);
    scene(team, true, true);
}

/* ------------------------------------------------------ a link goes down -- */

/* Returns the link that carries small messages: the one whose device the
 * transport lists first. Libfabric need not list devices in the kernel's
 * order. */
static int message_link(struct rails *rails)
{
    enum { WORDS = 1000, SIZE = 256 };
    char word[SIZE] = {0};
    uint64_t sent[NET_LINKS];
    int link, i;

    agree(rails);
    for (link = 0; link < NET_LINKS; ++link) {
        sent[link] = net_bytes(rails->team, link);
    }
    for (i = 0; i < WORDS; ++i) {
        if (rails->team->rank == SENDER) {
            side_send_wait(rails->ep, word, SIZE, 0xa0);
        } else {
            side_recv_wait(&rails->side, word, SIZE, 0xa0, ALL);
        }
    }
    agree(rails);
    if (rails->team->rank == SENDER) {
        for (link = 0; link < NET_LINKS; ++link) {
            sent[link] = net_bytes(rails->team, link) - sent[link];
        }
        link = sent[1] > sent[0];
        EXPECT_INT(sent[link], >=, WORDS * SIZE);
        EXPECT_INT(sent[1 - link], <, WORDS * SIZE / 2);
        team_put(rails->team, RECEIVER, &link, sizeof(link));
    } else {
        team_get(rails->team, SENDER, &link, sizeof(link));
    }
    return link;
}

/* The link that carries small messages stays up, because the endpoint fails
 * when that link fails. The other link goes down while the endpoint is
 * connected over both. `way`: UCX_RNDV_SCHEME of the transfers. */
static void meet_fate(struct team *team, const char *way)
{
    struct rails rails;
    int share[NET_LINKS], kept;

    setenv("UCX_RNDV_SCHEME", way, 1);
    start(&rails, team);
    /* when this message has arrived, all lanes are connected */
    send_all(&rails, 1);
    kept = message_link(&rails);
    if (team->rank == SENDER) {
        net_link(team, 1 - kept, false);
    }
    send_all(&rails, MESSAGES);
    /* Gets restart over the other link. But puts that are in flight over a link
     * that goes down end with an error. So each side first detects the failure
     * by a get. */
    get_by(&rails, RECEIVER);
    get_by(&rails, SENDER);
    shares(&rails, share);
    send_all(&rails, MESSAGES); /* the failed link is not used from here on */
    put_all(&rails);
    shares(&rails, share);
    if (team->rank == SENDER) {
        EXPECT_INT(share[kept], >, 1900);
        EXPECT_INT(share[1 - kept], <, 10);
    }
    end(&rails);
    if (team->rank == SENDER) {
        net_link(team, 1 - kept, true);
    }
    team_barrier(team, NULL, NULL);
}

static void doomed_member(struct team *team, void *arg)
{
    (void)arg;
    net_join_again(team);
    setenv("UCX_MAX_RMA_LANES", "2", 1);
    /* The loss of a link must be detected quickly. One second is the shortest
     * keepalive time that the kernel accepts; one unanswered probe suffices. */
    setenv("UCX_TCP_USER_TIMEOUT", "1s", 1);
    setenv("UCX_TCP_KEEPIDLE", "1s", 1);
    setenv("UCX_TCP_KEEPINTVL", "1s", 1);
    setenv("UCX_TCP_KEEPCNT", "1", 1);
    setenv("UCX_UGNI_USER_TIMEOUT", "1s", 1);
    setenv("UCX_WARN_UNUSED_ENV_VARS", "n", 1);
    meet_fate(team, "get_zcopy");
    meet_fate(team, "put_zcopy");
}

/* ----------------------------------------------------------- given links -- */

/* Continues in a child in a PID namespace of its own. UCP divides transfers
 * only between hosts, and it treats a process of another network or PID
 * namespace as one of another host. */
static void become_another_host(void)
{
    pid_t child;
    int status;

    EXPECT_INT(unshare(CLONE_NEWPID), ==, 0);
    fflush(NULL);
    child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        EXPECT_INT(prctl(PR_SET_PDEATHSIG, SIGKILL), ==, 0);
        return;
    }
    EXPECT_INT(waitpid(child, &status, 0), ==, child);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

/* Both links carry data of a rendezvous in which the receiver gets it. Then one
 * link goes down, with a rendezvous in which the sender puts the data. */
static void given_member(struct team *team, void *arg)
{
    char **devices = arg;

    if (team->rank == RECEIVER) {
        become_another_host();
    }
    setenv("UCX_NET_DEVICES", devices[team->rank], 1);
    setenv("UCX_MAX_RMA_LANES", "2", 1);
    setenv("UCX_RNDV_SCHEME", "get_zcopy", 1);
    scene(team, true, true);
    meet_fate(team, "put_zcopy");
}

/* ----------------------------------------------------------- measurement -- */

/* Returns bytes per second, measured on the side that waits for the transfers.
 * The first transfer is not counted: it warms up. */
static double bandwidth(struct rails *rails, void (*transfer)(struct rails *))
{
    transfer(rails);
    transfer(rails);
    return TOTAL / rails->spent;
}

static void send_messages(struct rails *rails)
{
    send_all(rails, MESSAGES);
}

static void measure(struct team *team, const char *lanes)
{
    static const struct {
        const char *name;
        void (*transfer)(struct rails *rails);
        int clock;
    } kinds[] = {
        {"tag", send_messages, RECEIVER},
        {"put", put_all, SENDER},
        {"get", get_all, RECEIVER},
    };
    struct rails rails;
    double bytes;
    size_t i;

    setenv("UCX_MAX_RNDV_LANES", lanes, 1);
    setenv("UCX_MAX_RMA_LANES", lanes, 1);
    start(&rails, team);
    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
        bytes = bandwidth(&rails, kinds[i].transfer);
        if (team->rank == kinds[i].clock) {
            printf("%s over %s link%s: %.1f MB/s\n", kinds[i].name, lanes,
                   (lanes[0] == '1') ? "" : "s", bytes * 1e-6);
        }
    }
    end(&rails);
}

static void measuring_member(struct team *team, void *arg)
{
    const char *rate = getenv("RAILS_MBIT");
    int i;

    (void)arg;
    net_join_again(team);
    for (i = 0; i < NET_LINKS; ++i) {
        if (!net_limit(team, i, (rate != NULL) ? (unsigned)atoi(rate) : 1000)) {
            check_skip("no 'tc' or no tbf here to limit links with");
        }
    }
    for (i = 0; i < 2; ++i) {
        measure(team, "1");
        measure(team, "2");
    }
}

int main(int argc, char **argv)
{
    struct team team     = {.limit = 120, .place = TEAM_NAMESPACES};
    team_member_t chosen = member;

    if ((argc == 8) && team_asked(argc, argv, "--given")) {
        team.place = TEAM_LOOPBACK;
        for (int i = 0; i < 2 * NET_LINKS; ++i) {
            net_use(i / NET_LINKS, i % NET_LINKS, argv[2 + i]);
        }
        return team_run(&team, 2, given_member, &argv[2 + (2 * NET_LINKS)]);
    }
    if (team_asked(argc, argv, "--measure")) {
        chosen = measuring_member;
    } else if (team_asked(argc, argv, "--down")) {
        chosen = doomed_member;
    }
    return team_run(&team, 2, chosen, NULL);
}
