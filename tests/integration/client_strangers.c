/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm: unknown clients at a listener's port ("strangers") connect and close,
 * send random bytes, or send invalid messages of the connection manager. A
 * stranger's listener also replies with invalid messages. All of that does no
 * harm and leaves nothing behind, and valid clients are served meanwhile.
 */
#include "common/data.h"
#include "common/server.h"
#include "common/usage.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <uct/api/uct.h>
#include <unistd.h>

enum {
    SERVER    = 0,
    STRANGER  = 1,
    CUSTOMER  = 2,
    MAX_HELLO = 16384,
    FLIPS     = 300,
    NOISES    = 100,
    SMALL     = 100,
    HEAP_MORE = 256 * 1024, /* a pool may allocate one more chunk late */
};

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

/* A stranger uses the connection manager by the UCT API, without UCP. It can
 * therefore send any private data. */
struct stranger {
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_cm_h cm;
    uct_listener_h listener;
    uct_ep_h ep;
    const void *words; /* Private data to send */
    size_t length;
    bool over; /* The connection was rejected or lost */
    bool accepted;
    /* Private data that its listener received from a UCP client */
    char heard[MAX_HELLO];
    size_t heard_length;
};

/* ------------------------------------------------------ invalid messages -- */

static uct_component_h find_component(void)
{
    uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_FLAGS};
    uct_component_h *list, found = NULL;
    unsigned num, i;

    EXPECT_OK(uct_query_components(&list, &num));
    for (i = 0; (i < num) && (found == NULL); ++i) {
        EXPECT_OK(uct_component_query(list[i], &attr));
        if (attr.flags & UCT_COMPONENT_FLAG_CM) {
            found = list[i];
        }
    }
    uct_release_component_list(list);
    EXPECT(found != NULL);
    return found;
}

static void stranger_open(struct stranger *stranger)
{
    uct_component_h component = find_component();
    uct_cm_config_t *config;

    memset(stranger, 0, sizeof(*stranger));
    EXPECT_OK(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_MUTEX,
                                       &stranger->async));
    EXPECT_OK(uct_worker_create(stranger->async, UCS_THREAD_MODE_SINGLE,
                                &stranger->worker));
    EXPECT_OK(uct_cm_config_read(component, NULL, NULL, &config));
    EXPECT_OK(uct_cm_open(component, stranger->worker, config, &stranger->cm));
    uct_config_release(config);
}

static void stranger_close(struct stranger *stranger)
{
    uct_cm_close(stranger->cm);
    uct_worker_destroy(stranger->worker);
    ucs_async_context_destroy(stranger->async);
}

static ssize_t
pack_words(void *arg, const uct_cm_ep_priv_data_pack_args_t *args, void *priv)
{
    struct stranger *stranger = arg;

    (void)args;
    memcpy(priv, stranger->words, stranger->length);
    return (ssize_t)stranger->length;
}

/* Yields if there is nothing to do: the peers of the stranger need the
 * processor. */
static void stranger_progress(struct stranger *stranger, double deadline)
{
    if (uct_worker_progress(stranger->worker) == 0) {
        sched_yield();
    }
    EXPECT(test_now() < deadline);
}

static void on_answer(uct_ep_h ep, void *arg,
                      const uct_cm_ep_client_connect_args_t *args)
{
    struct stranger *stranger = arg;

    (void)ep;
    stranger->accepted = (args->status == UCS_OK);
    stranger->over     = !stranger->accepted;
}

static void on_notify(uct_ep_h ep, void *arg,
                      const uct_cm_ep_server_conn_notify_args_t *args)
{
    struct stranger *stranger = arg;

    (void)ep;
    stranger->over = (args->status != UCS_OK);
}

static void on_disconnect(uct_ep_h ep, void *arg)
{
    struct stranger *stranger = arg;

    (void)ep;
    stranger->over = true;
}

/* Connects to the listener with private data and waits until the listener
 * accepts or rejects. The listener may accept valid data. */
static void say(struct stranger *stranger,
                const struct sockaddr_storage *address, const void *words,
                size_t length)
{
    ucs_sock_addr_t sockaddr = {(const struct sockaddr *)address,
                                sizeof(*address)};
    uct_ep_params_t params   = {
          .field_mask = UCT_EP_PARAM_FIELD_CM | UCT_EP_PARAM_FIELD_SOCKADDR |
                        UCT_EP_PARAM_FIELD_USER_DATA |
                        UCT_EP_PARAM_FIELD_SOCKADDR_PACK_CB |
                        UCT_EP_PARAM_FIELD_SOCKADDR_CONNECT_CB_CLIENT |
                        UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB,
          .cm                 = stranger->cm,
          .sockaddr           = &sockaddr,
          .user_data          = stranger,
          .sockaddr_pack_cb   = pack_words,
          .sockaddr_cb_client = on_answer,
          .disconnect_cb      = on_disconnect,
    };
    double deadline = test_now() + test_seconds(20);

    stranger->words    = words;
    stranger->length   = length;
    stranger->over     = false;
    stranger->accepted = false;
    EXPECT_OK(uct_ep_create(&params, &stranger->ep));
    while (!stranger->over && !stranger->accepted) {
        stranger_progress(stranger, deadline);
    }
    uct_ep_destroy(stranger->ep);
}

/* --------------------------------------------------- stranger's listener -- */

static void on_request(uct_listener_h listener, void *arg,
                       const uct_cm_listener_conn_request_args_t *args)
{
    struct stranger *stranger = arg;
    uct_ep_params_t params    = {
           .field_mask = UCT_EP_PARAM_FIELD_CM | UCT_EP_PARAM_FIELD_CONN_REQUEST |
                         UCT_EP_PARAM_FIELD_USER_DATA |
                         UCT_EP_PARAM_FIELD_PRIV_DATA |
                         UCT_EP_PARAM_FIELD_PRIV_DATA_LENGTH |
                         UCT_EP_PARAM_FIELD_SOCKADDR_NOTIFY_CB_SERVER |
                         UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB,
           .cm                  = stranger->cm,
           .conn_request        = args->conn_request,
           .user_data           = stranger,
           .private_data        = stranger->words,
           .private_data_length = stranger->length,
           .sockaddr_cb_server  = on_notify,
           .disconnect_cb       = on_disconnect,
    };

    (void)listener;
    stranger->heard_length = args->remote_data->conn_priv_data_length;
    EXPECT_INT(stranger->heard_length, <=, MAX_HELLO);
    memcpy(stranger->heard, args->remote_data->conn_priv_data,
           stranger->heard_length);
    EXPECT_OK(uct_ep_create(&params, &stranger->ep));
}

static void stranger_listen(struct stranger *stranger,
                            struct sockaddr_storage *address)
{
    struct sockaddr_in any = {
        .sin_family = AF_INET,
        .sin_addr   = {htonl(INADDR_LOOPBACK)},
    };
    uct_listener_params_t params = {
        .field_mask = UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB |
                      UCT_LISTENER_PARAM_FIELD_USER_DATA,
        .conn_request_cb = on_request,
        .user_data       = stranger,
    };
    uct_listener_attr_t attr = {.field_mask = UCT_LISTENER_ATTR_FIELD_SOCKADDR};

    EXPECT_OK(uct_listener_create(stranger->cm, (struct sockaddr *)&any,
                                  sizeof(any), &params, &stranger->listener));
    EXPECT_OK(uct_listener_query(stranger->listener, &attr));
    *address = attr.sockaddr;
}

/* Waits for one client at the stranger's listener, replies with private data,
 * and waits until the client closes. on_request() keeps the client's data. */
static void answer_with(struct stranger *stranger, const void *words,
                        size_t length)
{
    double deadline = test_now() + test_seconds(20);

    stranger->words  = words;
    stranger->length = length;
    stranger->over   = false;
    stranger->ep     = NULL;
    while (!stranger->over) {
        stranger_progress(stranger, deadline);
    }
    uct_ep_destroy(stranger->ep);
}

/* ---------------------------------------------------------- random bytes -- */

/* Connects a plain TCP socket to the listener, without the connection
 * manager. */
static int knock(const struct sockaddr_storage *address)
{
    int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    EXPECT(fd >= 0);
    EXPECT(connect(fd, (const struct sockaddr *)address,
                   sizeof(struct sockaddr_in)) == 0);
    return fd;
}

static void make_noise(const struct sockaddr_storage *address,
                       struct random *random)
{
    char noise[512];
    size_t i, length;
    int fd, n;

    for (n = 0; n < NOISES; ++n) {
        length = random_below(random, sizeof(noise));
        for (i = 0; i < length; ++i) {
            noise[i] = (char)random_next(random);
        }
        fd = knock(address);
        (void)!send(fd, noise, length, MSG_NOSIGNAL);
        close(fd);
    }
}

/* ----------------------------------------------------------------- peers -- */

/* Accepts all clients and receives their messages until the stranger sends a
 * byte over the team's channel. */
static void serve(struct team *team, struct side *side, struct server *server)
{
    char data[SMALL];
    struct side_ep *ep, *next;
    struct side_op op;

    side_recv(side, &op, data, SMALL, 1, ALL);
    while (!team_ready(team, STRANGER)) {
        side_progress(side);
        if (op.done) {
            EXPECT_OK(op.status);
            data_verify(data, SMALL, 1);
            side_recv(side, &op, data, SMALL, 1, ALL);
        }
        if (server->count > 0) {
            server_try_accept(server, side);
        }
        for (ep = side->eps; ep != NULL; ep = next) {
            next = ep->next;
            if (ep->failures > 0) {
                side_close_ep(ep, 0);
            }
        }
    }
    ucp_request_cancel(side->worker, op.request);
    while (!op.done) {
        side_progress(side);
    }
}

static void be_served(struct side *side, const struct sockaddr_storage *address)
{
    char data[SMALL];
    struct side_ep *ep = server_connect(side, address, 0);

    data_fill(data, SMALL, 1);
    side_send_wait(ep, data, SMALL, 1);
    EXPECT_OK(side_close_ep(ep, 0));
}

/* Connects to the stranger's listener, whose reply is invalid: the send and the
 * endpoint fail. */
static void meet_stranger(struct side *side,
                          const struct sockaddr_storage *address)
{
    struct side_ep *ep = server_connect(side, address, 0);
    struct side_op op;
    char data[SMALL];

    side_send(ep, &op, data, SMALL, 1);
    side_finish(side, &op, 20, "send to a stranger");
    EXPECT(op.status != UCS_OK);
    side_wait_failure(ep, 20);
    side_close_ep(ep, 0);
}

/* --------------------------------------------------------------- members -- */

static void be_server(struct team *team)
{
    unsigned fds;
    size_t heap;
    struct server server;
    struct side side;
    int i;

    server_open_side(&side, UCP_FEATURE_TAG, 0);
    server_open(&server, &side, "127.0.0.1", false);
    server_tell(&server, team, STRANGER);
    server_tell(&server, team, CUSTOMER);
    for (i = 0; i < 2; ++i) {
        char news;

        fds  = usage_fds();
        heap = usage_heap();
        serve(team, &side, &server);
        team_get(team, STRANGER, &news, sizeof(news));
        if (i == 1) { /* the first round loads code and fills caches */
            side_wait_fds(&side, fds);
            EXPECT_INT(usage_heap(), <=, heap + HEAP_MORE);
        }
        team_put(team, STRANGER, &news, sizeof(news));
    }
    server_close(&server);
    side_close(&side);
}

static void spray(struct stranger *stranger,
                  const struct sockaddr_storage *address, struct random *random,
                  const char *hello, size_t length)
{
    char copy[MAX_HELLO];
    size_t i;
    int n;

    close(knock(address));
    make_noise(address, random);
    for (i = 0; i < length; i += 1 + random_below(random, 3)) {
        say(stranger, address, hello, i);
    }
    for (n = 0; n < FLIPS; ++n) {
        memcpy(copy, hello, length);
        for (i = random_below(random, 4); i > 0; --i) {
            copy[random_below(random, length)] = (char)random_next(random);
        }
        say(stranger, address, copy, length);
    }
    for (i = 0; i < sizeof(copy); ++i) {
        copy[i] = (char)random_next(random);
    }
    say(stranger, address, copy, 1000);
    /* valid private data of a UCP client, sent by a client without UCP */
    say(stranger, address, hello, length);
}

static void be_stranger(struct team *team, struct random *random)
{
    struct sockaddr_storage own, address = server_learn(team, SERVER);
    static char noise[500];
    struct stranger stranger;
    char news = 0;
    size_t i, length;
    char *hello;

    stranger_open(&stranger);
    stranger_listen(&stranger, &own);
    team_put(team, CUSTOMER, &own, sizeof(own));
    for (i = 0; i < sizeof(noise); ++i) {
        noise[i] = (char)random_next(random);
    }
    answer_with(&stranger, noise, 0);
    answer_with(&stranger, noise, sizeof(noise));
    length = stranger.heard_length;
    hello  = malloc(length);
    EXPECT((hello != NULL) && (length > 0));
    memcpy(hello, stranger.heard, length);
    answer_with(&stranger, hello, length / 2);

    for (i = 0; i < 2; ++i) {
        spray(&stranger, &address, random, hello, length);
        if (i == 1) {
            team_put(team, CUSTOMER, &news, sizeof(news));
            team_get(team, CUSTOMER, &news, sizeof(news));
        }
        team_put(team, SERVER, &news, sizeof(news));
        team_get(team, SERVER, &news, sizeof(news));
    }
    uct_listener_destroy(stranger.listener);
    free(hello);
    stranger_close(&stranger);
}

static void be_customer(struct team *team)
{
    struct sockaddr_storage own, address = server_learn(team, SERVER);
    struct side side;
    char news;
    int i;

    server_open_side(&side, UCP_FEATURE_TAG, 0);
    own = server_learn(team, STRANGER);
    for (i = 0; i < 3; ++i) {
        meet_stranger(&side, &own);
    }
    while (!team_ready(team, STRANGER)) {
        be_served(&side, &address);
    }
    team_get(team, STRANGER, &news, sizeof(news));
    side_close(&side);
    team_put(team, STRANGER, &news, sizeof(news));
}

static void member(struct team *team, void *arg)
{
    struct random random = {*(const uint64_t *)arg};

    switch (team->rank) {
    case SERVER:
        be_server(team);
        break;
    case STRANGER:
        be_stranger(team, &random);
        break;
    default:
        be_customer(team);
        break;
    }
}

int main(int argc, char **argv)
{
    struct team team = {.limit = 150};
    uint64_t seed    = random_seed(argc, argv);

    return team_run(&team, 3, member, &seed);
}
