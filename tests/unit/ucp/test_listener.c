/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A listener with several connection managers, which are emulated: all listen
 * at the same port. tests/integration/client_server.c tests real connections.
 */
#include "suite.h"

#include "ucp/cm/cm.h"
#include "ucp/cm/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <ucx/cm.h>

enum { NUM = 2, FIRST_PORT = 4000 };

/* A manager: the number of ports that are in use with it, from FIRST_PORT on,
 * and the port at which it listens. */
typedef struct {
    uct_cm_t super;
    unsigned num_taken;
    unsigned next_port; /* Selected if the caller sets no port */
    unsigned port;      /* 0: it does not listen */
} fake_cm_t;

typedef struct {
    uct_listener_t super;
    struct sockaddr_in address;
} fake_listener_t;

static ucp_context_h context;
static ucp_worker_h worker;
static fake_cm_t fakes[NUM];

static ucs_status_t fake_listen(uct_cm_h cm, const struct sockaddr *address,
                                socklen_t length,
                                const uct_listener_params_t *params,
                                uct_listener_h *listener_p)
{
    fake_cm_t *fake = (fake_cm_t *)cm;
    fake_listener_t *listener;
    struct sockaddr_in in;
    unsigned port;

    memcpy(&in, address, sizeof(in));
    port = ntohs(in.sin_port);
    if (port == 0) {
        port        = fake->next_port++;
        in.sin_port = htons((uint16_t)port);
    }
    if (port < FIRST_PORT + fake->num_taken) {
        return UCS_ERR_BUSY;
    }
    ck_assert_uint_eq(fake->port, 0);
    listener = malloc(sizeof(*listener));
    ck_assert_ptr_nonnull(listener);
    listener->super.cm = cm;
    listener->address  = in;
    fake->port         = port;
    *listener_p        = &listener->super;
    return UCS_OK;
}

static void fake_destroy(uct_listener_h listener)
{
    ((fake_cm_t *)listener->cm)->port = 0;
    free(listener);
}

static ucs_status_t fake_query(uct_listener_h listener,
                               uct_listener_attr_t *attr)
{
    memcpy(&attr->sockaddr, &((fake_listener_t *)listener)->address,
           sizeof(struct sockaddr_in));
    return UCS_OK;
}

static const ucx_cm_ops_t fake_ops = {
    .size             = sizeof(fake_ops),
    .listener_create  = fake_listen,
    .listener_destroy = fake_destroy,
    .listener_query   = fake_query,
};

/* Opens a worker with two managers. With the second one, `num_taken` ports from
 * FIRST_PORT on are in use. */
static void open_managers(unsigned num_taken)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };
    ucp_worker_params_t worker_params = {.field_mask = 0};
    ucp_cm_worker_t *cms              = calloc(1, sizeof(*cms));
    unsigned i;

    ck_assert_ptr_nonnull(cms);
    ck_assert_int_eq(ucp_init(&params, NULL, &context), UCS_OK);
    ck_assert_int_eq(ucp_worker_create(context, &worker_params, &worker),
                     UCS_OK);
    memset(fakes, 0, sizeof(fakes));
    fakes[1].num_taken = num_taken;
    ucs_list_head_init(&cms->listeners);
    cms->num = NUM;
    for (i = 0; i < NUM; ++i) {
        fakes[i].super.ops         = &fake_ops;
        fakes[i].next_port         = FIRST_PORT;
        cms->managers[i].component = context->mds[0].component;
        cms->managers[i].uct       = &fakes[i].super;
    }
    ucp_worker_cm(worker)->cms = cms; /* the worker frees it */
}

static void on_request(ucp_conn_request_h request, void *arg)
{
}

static ucs_status_t listen_at(unsigned port, ucp_listener_h *listener_p)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_addr   = {htonl(INADDR_LOOPBACK)},
        .sin_port   = htons((uint16_t)port),
    };
    ucp_listener_params_t params = {
        .field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
                      UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
        .sockaddr     = {(struct sockaddr *)&address, sizeof(address)},
        .conn_handler = {.cb = on_request},
    };

    return ucp_listener_create(worker, &params, listener_p);
}

static unsigned port_of(ucp_listener_h listener)
{
    ucp_listener_attr_t attr = {
        .field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR,
    };

    ck_assert_int_eq(ucp_listener_query(listener, &attr), UCS_OK);
    return ntohs(((struct sockaddr_in *)&attr.sockaddr)->sin_port);
}

static void close_managers(void)
{
    unsigned i;

    for (i = 0; i < NUM; ++i) {
        ucp_worker_cm(worker)->cms->managers[i].uct =
            NULL; /* nothing to close */
    }
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}

/* The user leaves the port to the library. */
START_TEST(a_selected_port_is_free_with_all_managers)
{
    ucp_listener_h listener;

    open_managers(3);
    ck_assert_int_eq(listen_at(0, &listener), UCS_OK);
    ck_assert_uint_eq(fakes[0].port, FIRST_PORT + 3);
    ck_assert_uint_eq(fakes[1].port, FIRST_PORT + 3);
    ck_assert_uint_eq(port_of(listener), FIRST_PORT + 3);
    ucp_listener_destroy(listener);
    ck_assert_uint_eq(fakes[0].port, 0);
    ck_assert_uint_eq(fakes[1].port, 0);
    close_managers();
}
END_TEST

START_TEST(no_free_port_leaves_the_managers_that_have_one)
{
    ucp_listener_h listener;

    open_managers(10000);
    ck_assert_int_eq(listen_at(0, &listener), UCS_OK);
    ck_assert_uint_eq(fakes[0].port, port_of(listener));
    ck_assert_uint_eq(fakes[1].port, 0);
    ucp_listener_destroy(listener);
    close_managers();
}
END_TEST

/* The user's port is used by all managers that can, and by no other. */
START_TEST(a_given_port_is_not_replaced)
{
    ucp_listener_h listener;

    open_managers(3);
    ck_assert_int_eq(listen_at(FIRST_PORT + 1, &listener), UCS_OK);
    ck_assert_uint_eq(fakes[0].port, FIRST_PORT + 1);
    ck_assert_uint_eq(fakes[1].port, 0);
    ucp_listener_destroy(listener);
    fakes[0].num_taken = 3;
    ck_assert_int_eq(listen_at(FIRST_PORT + 1, &listener), UCS_ERR_BUSY);
    close_managers();
}
END_TEST

SUITE_MAIN("listener", a_selected_port_is_free_with_all_managers,
           no_free_port_leaves_the_managers_that_have_one,
           a_given_port_is_not_replaced)
