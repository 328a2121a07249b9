/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checking layer reports rules of the plugin ABI that a connection manager
 * breaks, and nothing about a manager that breaks no rule. `defect` names one
 * way in which the manager of this file breaks a rule, or is empty.
 */
#include "findings.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uct/base/component_list.h"
#include "uct/base/state.h"

/* --- The manager ------------------------------------------------------------- */

static struct {
    uct_worker_h worker;
    uct_ep_h ep;
    uct_ep_params_t params; /* of the last ep_create() */
    uct_listener_h listener;
    uct_listener_params_t listening;
} state;

static void resolve(void *arg)
{
    uct_cm_ep_resolve_args_t args = {
        .field_mask = UCT_CM_EP_RESOLVE_ARGS_FIELD_STATUS,
        .status     = UCS_OK,
    };

    state.params.cm_resolve_cb(state.params.user_data, &args);
    if (breaks("resolves twice")) {
        state.params.cm_resolve_cb(state.params.user_data, &args);
    }
}

static void answer(void *arg)
{
    uct_cm_ep_client_connect_args_t args = {
        .field_mask = UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_STATUS,
        .status     = UCS_ERR_REJECTED,
    };

    state.params.sockaddr_cb_client(state.ep, state.params.user_data, &args);
    if (breaks("answers twice")) {
        state.params.sockaddr_cb_client(state.ep, state.params.user_data,
                                        &args);
    }
}

static void leave(void *arg)
{
    state.params.disconnect_cb(state.ep, state.params.user_data);
    if (breaks("disconnects twice")) {
        state.params.disconnect_cb(state.ep, state.params.user_data);
    }
}

static void request(void *arg)
{
    uct_cm_listener_conn_request_args_t args = {.field_mask = 0};

    state.listening.conn_request_cb(state.listener, state.listening.user_data,
                                    &args);
}

static ucs_status_t ep_create(uct_cm_h cm, const uct_ep_params_t *params,
                              uct_ep_h *ep_p)
{
    state.params = *params;
    state.ep     = calloc(1, sizeof(*state.ep));
    ucx_cm_ep_init(state.ep, cm);
    *ep_p = state.ep;
    if (breaks("resolves inside")) {
        resolve(NULL);
        return UCS_OK;
    }
    return uct_host.progress_oneshot(state.worker, resolve, NULL);
}

static ucs_status_t cm_connect(uct_ep_h ep,
                               const uct_ep_connect_params_t *params)
{
    return uct_host.progress_oneshot(state.worker, answer, NULL);
}

static ucs_status_t cm_disconnect(uct_ep_h ep, unsigned flags)
{
    return uct_host.progress_oneshot(state.worker, leave, NULL);
}

static void ep_destroy(uct_ep_h ep)
{
    free(ep);
}

static ucs_status_t listener_create(uct_cm_h cm, const struct sockaddr *addr,
                                    socklen_t addrlen,
                                    const uct_listener_params_t *params,
                                    uct_listener_h *listener_p)
{
    state.listening    = *params;
    state.listener     = calloc(1, sizeof(*state.listener));
    state.listener->cm = cm;
    *listener_p        = state.listener;
    return uct_host.progress_oneshot(state.worker, request, NULL);
}

static void listener_destroy(uct_listener_h listener)
{
    free(listener);
}

static ucs_status_t cm_open(const ucx_component_t *component,
                            const ucx_cm_open_args_t *args, uct_cm_h *cm_p)
{
    uct_cm_t *cm = malloc(sizeof(*cm));

    ucx_cm_init(cm, args);
    *cm_p = cm;
    return UCS_OK;
}

static void cm_close(uct_cm_h cm)
{
    free(cm);
}

static ucs_status_t cm_query(uct_cm_h cm, uct_cm_attr_t *attr)
{
    attr->max_conn_priv = 8;
    return UCS_OK;
}

static const ucx_ep_ops_t ep_ops = {
    .size          = sizeof(ep_ops),
    .cm_connect    = cm_connect,
    .cm_disconnect = cm_disconnect,
    .destroy       = ep_destroy,
};

static const ucx_cm_ops_t cm_ops = {
    .size             = sizeof(cm_ops),
    .open             = cm_open,
    .close            = cm_close,
    .query            = cm_query,
    .listener_create  = listener_create,
    .listener_destroy = listener_destroy,
    .ep_create        = ep_create,
    .ep_ops           = &ep_ops,
};

static const ucx_component_t bad = {
    .size   = sizeof(bad),
    .name   = "badcm",
    .flags  = UCT_COMPONENT_FLAG_CM,
    .cm_ops = &cm_ops,
};

static const uct_component_decl_t decl = {
    .name  = "badcm",
    .flags = UCT_COMPONENT_FLAG_CM,
};

static ucs_status_t load(void *arg, const uct_component_decl_t *wanted,
                         const ucx_component_t **desc_p)
{
    *desc_p = &bad;
    return UCS_OK;
}

/* --- A program that uses the manager */

static unsigned num_resolved, num_answered, num_left, num_requests;
static int user; /* its address is the argument of all callbacks */

static ucs_status_t on_resolved(void *arg, const uct_cm_ep_resolve_args_t *args)
{
    ck_assert_ptr_eq(arg, &user);
    ++num_resolved;
    return UCS_OK;
}

static void on_answer(uct_ep_h ep, void *arg,
                      const uct_cm_ep_client_connect_args_t *args)
{
    ck_assert_ptr_eq(arg, &user);
    ck_assert_ptr_eq(ep, state.ep);
    ++num_answered;
}

static void on_left(uct_ep_h ep, void *arg)
{
    ck_assert_ptr_eq(arg, &user);
    ++num_left;
}

static void on_request(uct_listener_h listener, void *arg,
                       const uct_cm_listener_conn_request_args_t *args)
{
    ck_assert_ptr_eq(arg, &user);
    ++num_requests;
}

static void use_listener(uct_cm_h cm, const struct sockaddr_in *addr)
{
    const uct_listener_params_t params = {
        .field_mask = UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB |
                      UCT_LISTENER_PARAM_FIELD_USER_DATA,
        .conn_request_cb = on_request,
        .user_data       = &user,
    };
    uct_listener_h listener;

    ck_ok(uct_listener_create(cm, (const struct sockaddr *)addr, sizeof(*addr),
                              &params, &listener));
    if (breaks("requests elsewhere")) {
        request(NULL);
    }
    uct_worker_progress(state.worker);
    uct_listener_destroy(listener);
    if (breaks("requests late")) {
        request(NULL);
    }
}

static void use_endpoint(uct_cm_h cm, const struct sockaddr_in *addr)
{
    const ucs_sock_addr_t peer = {(const struct sockaddr *)addr, sizeof(*addr)};
    const uct_ep_connect_params_t words = {.field_mask = 0};
    const uct_ep_params_t params        = {
               .field_mask = UCT_EP_PARAM_FIELD_CM | UCT_EP_PARAM_FIELD_USER_DATA |
                             UCT_EP_PARAM_FIELD_SOCKADDR |
                             UCT_EP_PARAM_FIELD_CM_RESOLVE_CB |
                             UCT_EP_PARAM_FIELD_SOCKADDR_CONNECT_CB_CLIENT |
                             UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB,
               .cm                 = cm,
               .user_data          = &user,
               .sockaddr           = &peer,
               .cm_resolve_cb      = on_resolved,
               .sockaddr_cb_client = on_answer,
               .disconnect_cb      = on_left,
    };
    uct_ep_h ep;

    ck_ok(uct_ep_create(&params, &ep));
    uct_worker_progress(state.worker);
    ck_ok(uct_ep_connect(ep, &words));
    uct_worker_progress(state.worker);
    ck_ok(uct_ep_disconnect(ep, 0));
    uct_worker_progress(state.worker);
    uct_ep_destroy(ep);
    if (breaks("answers late")) {
        answer(NULL);
    }
}

static void use_manager(void)
{
    const struct sockaddr_in addr = {.sin_family = AF_INET};
    uct_component_h component;
    ucs_async_context_t *async;
    uct_cm_h cm;

    memset(&state, 0, sizeof(state));
    findings[0]  = '\0';
    num_resolved = num_answered = num_left = num_requests = 0;
    ck_ok(uct_component_add(&decl, load, NULL, NULL, &component));
    ck_ok(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_MUTEX, &async));
    ck_ok(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &state.worker));
    ck_ok(uct_cm_open(component, state.worker, NULL, &cm));
    use_listener(cm, &addr);
    use_endpoint(cm, &addr);
    uct_cm_close(cm);
    uct_worker_destroy(state.worker);
    ucs_async_context_destroy(async);
    uct_component_remove(component);
}

/* --- Tests ------------------------------------------------------------------- */

START_TEST(a_manager_that_conforms_is_not_reported)
{
    defect = "";
    use_manager();
    ck_assert_str_eq(findings, "");
    ck_assert_uint_eq(num_resolved, 1);
    ck_assert_uint_eq(num_answered, 1);
    ck_assert_uint_eq(num_left, 1);
    ck_assert_uint_eq(num_requests, 1);
}
END_TEST

static const planted_t defects[] = {
    {"resolves inside", 16, "inside ep_create"},
    {"resolves twice", 26, "cm_resolve_cb: it is called twice"},
    {"answers twice", 26, "sockaddr_cb_client: it is called twice"},
    {"disconnects twice", 26, "disconnect_cb: it is called twice"},
    {"answers late", 26, "sockaddr_cb_client: it is called after the end"},
    {"requests late", 26, "conn_request_cb: it is called after the end"},
    {"requests elsewhere", 16, "in no call"},
};

START_TEST(each_broken_rule_is_reported_with_its_number)
{
    defect = defects[_i].defect;
    use_manager();
    expect_finding(&defects[_i]);
    ck_assert_uint_eq(num_answered, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checking layer, connection managers");
    TCase *tc    = tcase_create("all");

    watch_findings();
    tcase_add_test(tc, a_manager_that_conforms_is_not_reported);
    tcase_add_loop_test(tc, each_broken_rule_is_reported_with_its_number, 0,
                        (int)(sizeof(defects) / sizeof(defects[0])));
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
