/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hostile bytes: while two processes communicate, a third one connects to the
 * ports of the first, sends random bytes or nothing, and may reset the
 * connection. Traffic continues, and afterwards no descriptors and no memory
 * are left.
 *
 * Member 0 is attacked, 1 is its peer, 2 the attacker. --seed N.
 */
#include "common/data.h"
#include "common/side.h"
#include "common/usage.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TARGET      = 0,
    PEER        = 1,
    ATTACKER    = 2,
    MAX_PORTS   = 16,
    CONNECTIONS = 400,
    KEPT_OPEN   = 32,
    MAX_BYTES   = 200 * 1024,
    MAX_MESSAGE = 100 * 1024,
    HEAP_MARGIN = 2 * 1024 * 1024,
    LOOK_MSEC   = 2,
};

static const ucp_tag_t ALL  = ~(ucp_tag_t)0;
static const ucp_tag_t WORD = 0x10;

static socklen_t length_of(const struct sockaddr_storage *address)
{
    return (address->ss_family == AF_INET) ? sizeof(struct sockaddr_in) :
                                             sizeof(struct sockaddr_in6);
}

static void reset_on_close(int fd)
{
    struct linger linger = {.l_onoff = 1, .l_linger = 0};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

/* Fills `bytes` with random bytes, some of which look like small little-endian
 * lengths. Returns their number. */
static size_t make_bytes(struct random *random, char *bytes)
{
    size_t length = random_below(random, 4) ? random_below(random, 300) :
                                              random_below(random, MAX_BYTES);
    uint64_t word;
    size_t i;

    for (i = 0; i < length; i += sizeof(word)) {
        word = random_next(random);
        if (random_below(random, 3) == 0) {
            word &= 0x000000ff0000ffffull;
        }
        memcpy(bytes + i, &word, sizeof(word));
    }
    return length;
}

/* Sends until all is sent, or the target closes or stops reading. */
static void push(int fd, const char *bytes, size_t length)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    ssize_t done;

    while (length > 0) {
        done = send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (done > 0) {
            bytes += done;
            length -= done;
        } else if ((errno != EAGAIN) || (poll(&ready, 1, 20) <= 0)) {
            return; /* the target has closed, or reads no longer */
        }
    }
}

static void attack(struct random *random, const struct sockaddr_storage *where,
                   char *bytes, int *kept)
{
    int fd = socket(where->ss_family, SOCK_STREAM, 0);
    struct pollfd closed;

    EXPECT(fd >= 0);
    if (connect(fd, (const struct sockaddr *)where, length_of(where)) != 0) {
        FAIL("the port under attack does not accept any more: %s",
             strerror(errno));
    }
    push(fd, bytes, make_bytes(random, bytes));
    closed = (struct pollfd){.fd = fd, .events = POLLIN};
    /* usually the target closes the connection within this time */
    poll(&closed, 1, LOOK_MSEC);
    if (random_below(random, 3) == 0) {
        reset_on_close(fd);
    }
    if (random_below(random, 4) == 0) {
        /* The connection stays open and silent until a later one replaces
         * it. */
        int *slot = &kept[random_below(random, KEPT_OPEN)];
        int old   = *slot;

        *slot = fd;
        fd    = old;
    }
    if (fd >= 0) {
        close(fd);
    }
}

static void attacker_main(struct team *team, uint64_t seed)
{
    struct sockaddr_storage ports[MAX_PORTS];
    struct random random = {.state = seed};
    char *bytes          = malloc(MAX_BYTES + 8);
    int kept[KEPT_OPEN];
    unsigned count, i;
    char word = 'd';

    EXPECT(bytes != NULL);
    memset(kept, -1, sizeof(kept));
    team_get(team, TARGET, &count, sizeof(count));
    team_get(team, TARGET, ports, count * sizeof(ports[0]));
    for (i = 0; i < CONNECTIONS; ++i) {
        attack(&random, &ports[random_below(&random, count)], bytes, kept);
    }
    for (i = 0; i < KEPT_OPEN; ++i) {
        if (kept[i] >= 0) {
            close(kept[i]);
        }
    }
    free(bytes);
    team_put(team, TARGET, &word, 1);
    team_get(team, TARGET, &word, 1);
}

/* One message of variable size in each direction; `first`: this side sends
 * first. */
static void talk(struct side *side, struct side_ep *ep, char *buffer,
                 uint64_t number, bool first)
{
    size_t size = (number * 977) % MAX_MESSAGE;

    if (first) {
        data_fill(buffer, size, number);
        side_send_wait(ep, buffer, size, WORD);
    }
    EXPECT_INT(side_recv_wait(side, buffer, MAX_MESSAGE, WORD, ALL), ==, size);
    data_verify(buffer, size, number);
    if (!first) {
        side_send_wait(ep, buffer, size, WORD);
    }
}

static void target_main(struct team *team, struct side *side,
                        struct side_ep *ep, char *buffer)
{
    struct sockaddr_storage ports[MAX_PORTS];
    unsigned count, fds;
    uint64_t number = 1;
    size_t heap;
    char word = 0;

    talk(side, ep, buffer, number, true);
    count = usage_listeners(ports, MAX_PORTS);
    if (count == 0) {
        check_skip("the chosen transports listen on no port");
    }
    fds  = usage_fds();
    heap = usage_heap();
    team_put(team, ATTACKER, &count, sizeof(count));
    team_put(team, ATTACKER, ports, count * sizeof(ports[0]));
    while (!team_ready(team, ATTACKER)) {
        talk(side, ep, buffer, ++number, true);
    }
    team_get(team, ATTACKER, &word, 1);
    printf("%llu messages there and back during the attack on %u ports\n",
           (unsigned long long)number, count);
    /* Each port that was attacked may have created one timer descriptor. */
    side_wait_fds(side, fds + count);
    EXPECT_INT(usage_heap(), <=, heap + HEAP_MARGIN);
    EXPECT_INT(ep->failures, ==, 0);
    team_put(team, ATTACKER, &word, 1);
    word = 0;
    /* tells the peer that the test is over */
    side_send_wait(ep, &word, 0, WORD + 1);
    team_get_progressing(team, PEER, &word, 1, side_progress, side);
}

static void peer_main(struct team *team, struct side *side, struct side_ep *ep,
                      char *buffer)
{
    ucp_tag_recv_info_t info;
    uint64_t number = 0;

    for (;;) {
        side_probe_wait(side, WORD, ~(ucp_tag_t)1, false, &info);
        if (info.sender_tag != WORD) {
            break;
        }
        talk(side, ep, buffer, ++number, false);
    }
    side_recv_wait(side, buffer, 0, WORD + 1, ALL);
    EXPECT_INT(ep->failures, ==, 0);
    team_put(team, TARGET, buffer, 1);
}

static void member(struct team *team, void *arg)
{
    const uint64_t *seed = arg;
    char *buffer;
    struct side side;
    struct side_ep *ep;

    if (team->rank == ATTACKER) {
        attacker_main(team, *seed);
        return;
    }
    buffer = malloc(MAX_MESSAGE);
    EXPECT(buffer != NULL);
    side_open(&side, UCP_FEATURE_TAG);
    ep = side_meet(&side, team, 1 - team->rank);
    if (team->rank == TARGET) {
        target_main(team, &side, ep, buffer);
    } else {
        peer_main(team, &side, ep, buffer);
    }
    side_close_ep(ep, 0);
    side_close(&side);
    free(buffer);
}

int main(int argc, char **argv)
{
    uint64_t seed    = random_seed(argc, argv);
    struct team team = {.limit = 60};

    return team_run(&team, 3, member, &seed);
}
