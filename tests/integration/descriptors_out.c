/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm: connections that send nothing ("strangers") use all file descriptors of a
 * server. Clients are served nevertheless, at the listener and at the ports of
 * its transports. When the server itself has opened all descriptors, it sleeps
 * until one is free instead of polling, and then serves clients.
 *
 * Member 0 is the server, 1 makes the strangers' connections, 2 is the client.
 */
#include "common/data.h"
#include "common/server.h"
#include "common/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    SERVER      = 0,
    STRANGER    = 1,
    CUSTOMER    = 2,
    FREE_FILES  = 24,  /* Descriptors that the server can still open */
    CONNECTIONS = 200, /* Strangers at each port when the client starts */
    MAX_PORTS   = 8,
    MOST_WAKES  = 300, /* Most wake-ups in the second without descriptors */
    SMALL       = 100,
};

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

/* Seconds; much shorter than the library's time limit for silent connections */
static const double SOON = 6;

struct ports {
    unsigned count;
    struct sockaddr_storage where[MAX_PORTS];
};

/* ------------------------------------------------------------- strangers -- */

static int knock(const struct sockaddr_storage *where)
{
    socklen_t length = (where->ss_family == AF_INET) ?
                           sizeof(struct sockaddr_in) :
                           sizeof(struct sockaddr_in6);
    int fd           = socket(where->ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);

    EXPECT(fd >= 0);
    if (connect(fd, (const struct sockaddr *)where, length) != 0) {
        EXPECT_INT(errno, ==, EINPROGRESS);
    }
    return fd;
}

static void raise_limit(void)
{
    struct rlimit files;

    EXPECT(getrlimit(RLIMIT_NOFILE, &files) == 0);
    files.rlim_cur = files.rlim_max;
    EXPECT(setrlimit(RLIMIT_NOFILE, &files) == 0);
}

static void be_strangers(struct team *team)
{
    static int fds[MAX_PORTS * CONNECTIONS];
    struct ports ports;
    unsigned count = 0, i;
    char news      = 0;

    raise_limit();
    team_get(team, SERVER, &ports, sizeof(ports));
    for (i = 0; i < ports.count * CONNECTIONS; ++i) {
        fds[count++] = knock(&ports.where[i % ports.count]);
    }
    team_put(team, SERVER, &news, 1);
    for (i = 0; !team_ready(team, SERVER); ++i) {
        /* more connections, while none is closed */
        if (count < MAX_PORTS * CONNECTIONS) {
            fds[count++] = knock(&ports.where[i % ports.count]);
        }
        usleep(1000);
    }
    team_get(team, SERVER, &news, 1);
    while (count > 0) {
        close(fds[--count]);
    }
    team_put(team, SERVER, &news, 1);

    team_get(team, SERVER, &news, 1);
    for (i = 0; i < ports.count; ++i) {
        fds[i] = knock(&ports.where[i]);
    }
    team_put(team, SERVER, &news, 1);
    team_get(team, SERVER, &news, 1);
}

/* -------------------------------------------------------------- customer -- */

static void be_customer(struct team *team)
{
    struct sockaddr_storage address = server_learn(team, SERVER);
    char data[SMALL]                = {0};
    struct side_ep *ep;
    struct side side;
    void *worker;
    char news;

    server_open_side(&side, UCP_FEATURE_TAG, 0);
    worker = side_get_address(team, SERVER);
    team_get(team, SERVER, &news, 1);
    ep = server_connect(&side, &address, 0);
    side_send_wait(ep, data, SMALL, 1);
    side_recv_wait(&side, data, SMALL, 2, ALL);
    side_close_ep(ep, 0);
    ep = side_connect(&side, worker);
    side_send_wait(ep, data, SMALL, 3);
    EXPECT_OK(side_flush(ep));
    side_close_ep(ep, 0);
    free(worker);

    team_get(team, SERVER, &news, 1);
    ep = server_connect(&side, &address, 0);
    side_send_wait(ep, data, SMALL, 1);
    side_recv_wait(&side, data, SMALL, 2, ALL);
    side_close_ep(ep, 0);
    side_close(&side);
}

/* ---------------------------------------------------------------- server -- */

static void limit_files(rlim_t count)
{
    struct rlimit files;

    EXPECT(getrlimit(RLIMIT_NOFILE, &files) == 0);
    files.rlim_cur = count;
    EXPECT(setrlimit(RLIMIT_NOFILE, &files) == 0);
}

static void serve_client(struct side *side, struct server *server)
{
    char data[SMALL];
    struct side_ep *ep;

    while (server->count == 0) {
        side_progress(side);
    }
    ep = server_accept(server, side);
    side_recv_wait(side, data, SMALL, 1, ALL);
    side_send_wait(ep, data, SMALL, 2);
    while (ep->failures == 0) {
        side_progress(side);
    }
    side_close_ep(ep, UCP_EP_CLOSE_FLAG_FORCE);
}

/* Opens descriptors until the process has no more; returns their number. */
static unsigned take_all(int *fds, unsigned max)
{
    unsigned count = 0;

    while ((count < max) && ((fds[count] = open("/dev/null", O_RDONLY)) >= 0)) {
        ++count;
    }
    EXPECT_INT(count, <, max);
    EXPECT_INT(errno, ==, EMFILE);
    return count;
}

/* Sleeps on the worker's descriptor for a second; fails after MOST_WAKES
 * wake-ups. */
static void sleep_second(struct side *side)
{
    double end          = test_now() + 1;
    unsigned wakes      = 0;
    struct pollfd event = {.events = POLLIN};

    EXPECT_OK(ucp_worker_get_efd(side->worker, &event.fd));
    while (test_now() < end) {
        while (ucp_worker_progress(side->worker) != 0) {
        }
        if (ucp_worker_arm(side->worker) == UCS_OK) {
            wakes += (poll(&event, 1, (int)((end - test_now()) * 1e3) + 1) > 0);
        }
        EXPECT_INT(wakes, <=, MOST_WAKES);
    }
}

static void be_server(struct team *team)
{
    struct ports ports;
    struct server server;
    struct side side;
    char data[SMALL];
    int taken[256];
    unsigned count;
    double start;
    char news = 0;

    server_open_side(&side, UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP, 0);
    server_open(&server, &side, "127.0.0.1", false);
    server_tell(&server, team, CUSTOMER);
    side_put_address(&side, team, CUSTOMER);
    ports.count = usage_listeners(ports.where, MAX_PORTS);
    EXPECT_INT(ports.count, >=, 2); /* the listener and a transport */
    limit_files(usage_fds() + FREE_FILES);
    team_put(team, STRANGER, &ports, sizeof(ports));
    team_get_progressing(team, STRANGER, &news, 1, side_progress, &side);

    start = test_now();
    team_put(team, CUSTOMER, &news, 1);
    serve_client(&side, &server);
    side_recv_wait(&side, data, SMALL, 3, ALL);
    printf("served among strangers in %.0f ms\n", (test_now() - start) * 1e3);
    EXPECT(test_now() - start < test_seconds(SOON));
    team_put(team, STRANGER, &news, 1);
    team_get_progressing(team, STRANGER, &news, 1, side_progress, &side);

    side_linger(&side, 0.05);
    count = take_all(taken, 256);
    team_put(team, STRANGER, &news, 1);
    team_get_progressing(team, STRANGER, &news, 1, side_progress, &side);
    sleep_second(&side);
    while (count > 0) {
        close(taken[--count]);
    }
    team_put(team, CUSTOMER, &news, 1);
    serve_client(&side, &server);
    team_put(team, STRANGER, &news, 1);
    server_close(&server);
    side_close(&side);
}

static void member(struct team *team, void *arg)
{
    switch (team->rank) {
    case SERVER:
        be_server(team);
        break;
    case STRANGER:
        be_strangers(team);
        break;
    default:
        be_customer(team);
        break;
    }
}

int main(void)
{
    struct team team = {.limit = 60};

    return team_run(&team, 3, member, NULL);
}
