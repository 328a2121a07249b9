/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection managers: they open, listen on the loopback address (or
 * CHECK_HOST), pass private data both ways, accept, reject, disconnect and
 * close.
 */
#include "clock.h"
#include "plugin.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ucs/async/async_fwd.h>


#define PRIVATE_MAX 4096
#define SECONDS \
    30.0 /* Time limit of a step in seconds, so large that only a broken plugin
          * reaches it */

typedef struct manager_test {
    run_t *run;
    const char *name;
    uct_component_h component;
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_cm_h cm;
    uct_listener_h listener;
    struct sockaddr_storage address; /* Address of the listener */
    size_t max_private;
    int rejects; /* The listener's callback rejects requests */
    pid_t tid;   /* Thread id of the worker */

    uct_ep_h client, server;
    char private_data[PRIVATE_MAX]; /* Data that is sent in both directions */
    size_t private_length;
    /* Number of calls for the current client: of the listener's callback, of
     * the client's connect callback, of the server's notify callback, and of
     * the disconnect callbacks of both endpoints */
    unsigned requests, answers, notices, client_left, server_left;
    /* Number of callbacks with wrong private data, and of callbacks with
     * private data by another thread than the worker's */
    unsigned wrong_data, foreign;
    ucs_status_t answer, notice; /* Last status of the client's connect callback
                                  * and of the server's notify callback */
} manager_test_t;

/* --- Callbacks ----------------------------------------------------------- */

static void note_data(manager_test_t *test, const uct_cm_remote_data_t *data)
{
    test->foreign += (gettid() != test->tid);
    test->wrong_data +=
        !(data->field_mask & UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA) ||
        !(data->field_mask & UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA_LENGTH) ||
        (data->conn_priv_data_length != test->private_length) ||
        memcmp(data->conn_priv_data, test->private_data, test->private_length);
}

static void handle_client_left(uct_ep_h ep, void *arg)
{
    ++((manager_test_t *)arg)->client_left;
}

static void handle_server_left(uct_ep_h ep, void *arg)
{
    ++((manager_test_t *)arg)->server_left;
}

static void handle_notice(uct_ep_h ep, void *arg,
                          const uct_cm_ep_server_conn_notify_args_t *args)
{
    manager_test_t *test = arg;

    ++test->notices;
    test->notice = args->status;
}

static void handle_request(uct_listener_h listener, void *arg,
                           const uct_cm_listener_conn_request_args_t *args)
{
    manager_test_t *test         = arg;
    const uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_CM | UCT_EP_PARAM_FIELD_CONN_REQUEST |
                      UCT_EP_PARAM_FIELD_USER_DATA |
                      UCT_EP_PARAM_FIELD_SOCKADDR_NOTIFY_CB_SERVER |
                      UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB |
                      UCT_EP_PARAM_FIELD_SOCKADDR_CB_FLAGS |
                      UCT_EP_PARAM_FIELD_PRIV_DATA |
                      UCT_EP_PARAM_FIELD_PRIV_DATA_LENGTH,
        .cm                  = test->cm,
        .conn_request        = args->conn_request,
        .user_data           = test,
        .sockaddr_cb_server  = handle_notice,
        .disconnect_cb       = handle_server_left,
        .private_data        = test->private_data,
        .private_data_length = test->private_length,
    };

    ++test->requests;
    if (args->field_mask &
        UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_REMOTE_DATA) {
        note_data(test, args->remote_data);
    } else {
        ++test->wrong_data;
    }

    if (test->rejects) {
        uct_listener_reject(listener, args->conn_request);
    } else if (uct_ep_create(&params, &test->server) != UCS_OK) {
        test->server = NULL;
    }
}

static void handle_answer(uct_ep_h ep, void *arg,
                          const uct_cm_ep_client_connect_args_t *args)
{
    manager_test_t *test = arg;

    ++test->answers;
    test->answer = args->status;
    if (args->status == UCS_OK) {
        note_data(test, args->remote_data);
        uct_cm_client_ep_conn_notify(ep);
    }
}

static ssize_t handle_pack(void *arg,
                           const uct_cm_ep_priv_data_pack_args_t *pack_args,
                           void *priv_data)
{
    manager_test_t *test = arg;

    memcpy(priv_data, test->private_data, test->private_length);
    return (ssize_t)test->private_length;
}

/* --- Steps --------------------------------------------------------------- */

#define manager_wait(_test, _condition) \
    ({ \
        double _end = clock_now() + SECONDS; \
        int _holds; \
\
        while (!(_holds = !!(_condition)) && (clock_now() < _end)) { \
            if (uct_worker_progress((_test)->worker) == 0) { \
                sched_yield(); \
            } \
        } \
        _holds; \
    })

/* Returns the address to use: 127.0.0.1, or CHECK_HOST if it is set, for
 * managers whose devices do not have the loopback address. */
static in_addr_t own_address(void)
{
    const char *host = getenv("CHECK_HOST");
    struct in_addr address;

    return ((host != NULL) && (inet_pton(AF_INET, host, &address) == 1)) ?
               address.s_addr :
               htonl(INADDR_LOOPBACK);
}

static int start_listener(manager_test_t *test)
{
    const uct_listener_params_t params = {
        .field_mask = UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB |
                      UCT_LISTENER_PARAM_FIELD_USER_DATA,
        .conn_request_cb = handle_request,
        .user_data       = test,
    };
    struct sockaddr_in any = {
        .sin_family = AF_INET,
        .sin_addr   = {own_address()},
    };
    uct_listener_attr_t attr = {.field_mask = UCT_LISTENER_ATTR_FIELD_SOCKADDR};
    uct_listener_h second;
    ucs_status_t status;

    check_doing(test->run, "listening on the loopback address");
    status = uct_listener_create(test->cm, (struct sockaddr *)&any, sizeof(any),
                                 &params, &test->listener);
    if (status != UCS_OK) {
        check_note(test->run, "%s does not listen on the loopback address: %s",
                   test->name, ucs_status_string(status));
        return 0;
    }

    status        = uct_listener_query(test->listener, &attr);
    test->address = attr.sockaddr;
    if (!check_that(test->run, 26,
                    (status == UCS_OK) &&
                        (((struct sockaddr_in *)&attr.sockaddr)->sin_port != 0),
                    "listener_query does not tell the port: %s",
                    ucs_status_string(status))) {
        uct_listener_destroy(test->listener);
        return 0;
    }

    check_doing(test->run, "listening twice on one address");
    status = uct_listener_create(test->cm, (struct sockaddr *)&test->address,
                                 sizeof(any), &params, &second);
    check_that(test->run, 26, status == UCS_ERR_BUSY,
               "listening on an address that is taken answers %s; it must be "
               "UCS_ERR_BUSY",
               ucs_status_string(status));
    if (status == UCS_OK) {
        uct_listener_destroy(second);
    }

    /* 192.0.2.0/24 is reserved for documentation: no host has this address */
    check_doing(test->run, "listening on a strange address");
    any.sin_addr.s_addr = htonl(0xc0000201u);
    status = uct_listener_create(test->cm, (struct sockaddr *)&any, sizeof(any),
                                 &params, &second);
    check_that(test->run, 26, status == UCS_ERR_INVALID_ADDR,
               "listening on an address that is not ours answers %s; it must "
               "be UCS_ERR_INVALID_ADDR",
               ucs_status_string(status));
    if (status == UCS_OK) {
        uct_listener_destroy(second);
    }
    return 1;
}

static int start_client(manager_test_t *test)
{
    const ucs_sock_addr_t to     = {(struct sockaddr *)&test->address,
                                    sizeof(struct sockaddr_in)};
    const uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_CM | UCT_EP_PARAM_FIELD_SOCKADDR |
                      UCT_EP_PARAM_FIELD_USER_DATA |
                      UCT_EP_PARAM_FIELD_SOCKADDR_PACK_CB |
                      UCT_EP_PARAM_FIELD_SOCKADDR_CONNECT_CB_CLIENT |
                      UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB |
                      UCT_EP_PARAM_FIELD_SOCKADDR_CB_FLAGS,
        .cm                 = test->cm,
        .sockaddr           = &to,
        .user_data          = test,
        .sockaddr_pack_cb   = handle_pack,
        .sockaddr_cb_client = handle_answer,
        .disconnect_cb      = handle_client_left,
    };
    ucs_status_t status;

    test->requests = test->answers = test->notices = 0;
    test->client_left = test->server_left = 0;
    test->server                          = NULL;
    status = uct_ep_create(&params, &test->client);
    return check_that(test->run, 26, status == UCS_OK,
                      "a client cannot be created: %s",
                      ucs_status_string(status));
}

static void check_reject(manager_test_t *test)
{
    check_doing(test->run, "rejecting a client");
    test->rejects = 1;
    if (start_client(test)) {
        manager_wait(test, test->answers > 0);
        check_that(test->run, 26,
                   (test->answers == 1) && (test->answer == UCS_ERR_REJECTED),
                   "a rejected client was told %u times, %s", test->answers,
                   ucs_status_string(test->answer));
        uct_ep_destroy(test->client);
    }
}

static void handle_flushed(uct_completion_t *comp)
{
}

/* Checks that a flush of the client's endpoint, which has called
 * uct_ep_disconnect(), completes after the server was notified, without waiting
 * for the server's own disconnect. */
static void check_flush_left(manager_test_t *test)
{
    uct_completion_t comp = {
        .func   = handle_flushed,
        .count  = 2,
        .status = UCS_OK,
    };
    ucs_status_t status;

    status = uct_ep_flush(test->client, UCT_FLUSH_FLAG_LOCAL, &comp);
    if (status == UCS_INPROGRESS) {
        status = manager_wait(test, comp.count == 1) ? comp.status :
                                                       UCS_ERR_TIMED_OUT;
    }
    check_that(test->run, 26, status == UCS_OK,
               "flush of an endpoint that has disconnected ends with %s",
               ucs_status_string(status));
    check_that(test->run, 26, (status != UCS_OK) || (test->server_left == 1),
               "flush of an endpoint that has disconnected is over before the "
               "server was told");
}

static void check_accept(manager_test_t *test)
{
    check_doing(test->run, "accepting a client");
    test->rejects = 0;
    if (!start_client(test)) {
        return;
    }
    manager_wait(test, (test->answers > 0) && (test->notices > 0));
    check_that(test->run, 26, test->requests == 1,
               "one client made %u connection requests", test->requests);
    check_that(test->run, 26, (test->answers == 1) && (test->answer == UCS_OK),
               "an accepted client was told %u times, %s", test->answers,
               ucs_status_string(test->answer));
    check_that(test->run, 26, (test->notices == 1) && (test->notice == UCS_OK),
               "the server was told of its client %u times, %s", test->notices,
               ucs_status_string(test->notice));

    if (!check_has_failed(test->run)) {
        check_doing(test->run, "disconnecting");
        uct_ep_disconnect(test->client, 0);
        check_flush_left(test);
        check_that(test->run, 26, manager_wait(test, test->server_left > 0),
                   "the server does not learn that its client has left");
        uct_ep_disconnect(test->server, 0);
        check_that(test->run, 26, manager_wait(test, test->client_left > 0),
                   "the client does not learn that the server has answered");
        manager_wait(test, uct_worker_progress(test->worker) == 0);
        check_that(test->run, 26,
                   (test->server_left == 1) && (test->client_left == 1),
                   "disconnecting was told %u and %u times", test->server_left,
                   test->client_left);
    }

    check_doing(test->run, "destroying endpoints of a connection manager");
    uct_ep_destroy(test->client);
    if (test->server != NULL) {
        uct_ep_destroy(test->server);
    }
}

static void use_manager(manager_test_t *test)
{
    uct_cm_attr_t attr = {.field_mask = UCT_CM_ATTR_FIELD_MAX_CONN_PRIV};
    ucs_status_t status;

    status = uct_cm_query(test->cm, &attr);
    if (!check_that(test->run, 26, status == UCS_OK, "the query answers %s",
                    ucs_status_string(status)) ||
        !start_listener(test)) {
        return;
    }

    test->private_length = size_min(attr.max_conn_priv, PRIVATE_MAX);
    memset(test->private_data, 0x42, test->private_length);
    check_reject(test);
    if (!check_has_failed(test->run)) {
        check_accept(test);
    }
    check_that(test->run, 26, test->wrong_data == 0,
               "private data arrived other than it was sent, %u times",
               test->wrong_data);
    check_that(test->run, 16, test->foreign == 0,
               "callbacks come from another thread than the worker's");
    check_doing(test->run, "destroying a listener");
    uct_listener_destroy(test->listener);
}

static void check_manager(run_t *run, const char *name)
{
    manager_test_t test = {.run = run, .name = name, .tid = gettid()};
    uct_cm_config_t *config;
    ucs_status_t status;

    test.component = plugin_component(name);
    if ((test.component == NULL) ||
        (ucs_async_context_create(UCS_ASYNC_MODE_THREAD_MUTEX, &test.async) !=
         UCS_OK)) {
        check_fail(run, 26, "%s: nothing to work with", name);
        return;
    }
    if (uct_worker_create(test.async, UCS_THREAD_MODE_SINGLE, &test.worker) !=
        UCS_OK) {
        check_fail(run, 26, "%s: no worker", name);
        goto out_async;
    }

    check_doing(run, "opening the connection manager of %s", name);
    status = uct_cm_config_read(test.component, NULL, NULL, &config);
    if (status == UCS_OK) {
        status = uct_cm_open(test.component, test.worker, config, &test.cm);
        uct_config_release(config);
    }
    if (check_that(run, 26, status == UCS_OK,
                   "the connection manager of %s does not open: %s", name,
                   ucs_status_string(status))) {
        use_manager(&test);
        check_doing(run, "closing the connection manager of %s", name);
        uct_cm_close(test.cm);
    }
    uct_worker_destroy(test.worker);
out_async:
    ucs_async_context_destroy(test.async);
}

void check_managers(run_t *run)
{
    const ucx_manifest_t *manifest = run->target->manifest;
    uct_component_h *list;
    unsigned count, i;
    int there = 0;

    if (plugin_load(run) == NULL) {
        return;
    }
    if (uct_query_components(&list, &count) == UCS_OK) {
        uct_release_component_list(list);
    }
    for (i = 0; i < manifest->num_components; ++i) {
        if (manifest->components[i].has_cm) {
            check_manager(run, manifest->components[i].name);
            there = 1;
        }
    }
    if (!there) {
        check_skip(run, "it has no connection manager");
    }
}
