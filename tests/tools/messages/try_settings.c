/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that the tests of messages run: opens the library with the given
 * settings, and prints the name and the status of the first step that failed,
 * or else of the last step. Messages of the library go to its log. Uses only
 * the public API.
 *
 *   try_settings [prefix=APP] [file=PATH] [set=NAME=VALUE]... [peer=TLS]
 *     [listen]
 *
 * prefix, file: arguments of ucp_config_read(). set: changes a variable of the
 * configuration. peer: connects to a second worker that has only the transports
 * TLS, instead of to the worker itself. listen: also creates a listener.
 */
#include <ucp/api/ucp.h>

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const char *step;
    ucs_status_t status;
} outcome_t;

static int is_option(const char *arg, const char *name, const char **value_p)
{
    size_t length = strlen(name);

    if ((strncmp(arg, name, length) != 0) || (arg[length] != '=')) {
        return 0;
    }
    *value_p = arg + length + 1;
    return 1;
}

/* Applies a setting NAME=VALUE to the configuration. */
static ucs_status_t modify(ucp_config_t *config, const char *setting)
{
    const char *equals = strchr(setting, '=');
    char name[128];

    if ((equals == NULL) || ((size_t)(equals - setting) >= sizeof(name))) {
        return UCS_ERR_NO_ELEM;
    }
    memcpy(name, setting, (size_t)(equals - setting));
    name[equals - setting] = '\0';
    return ucp_config_modify(config, name, equals + 1);
}

static outcome_t modify_all(ucp_config_t *config, int argc, char **argv)
{
    outcome_t outcome = {"modify", UCS_OK};
    const char *value;
    int i;

    for (i = 1; (i < argc) && (outcome.status == UCS_OK); ++i) {
        if (is_option(argv[i], "set", &value)) {
            outcome.status = modify(config, value);
        }
    }
    return outcome;
}

static void refuse(ucp_conn_request_h request, void *arg)
{
    ucp_listener_h *listener = arg;

    ucp_listener_reject(*listener, request);
}

/* Connects `worker` to `peer` and closes the endpoint. `peer` may be `worker`
 * itself, which every transport supports. */
static outcome_t connect_to(ucp_worker_h worker, ucp_worker_h peer)
{
    outcome_t outcome      = {"endpoint", UCS_OK};
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    ucp_request_param_t closing = {.op_attr_mask = 0};
    ucp_address_t *address;
    ucs_status_ptr_t request;
    size_t length;
    ucp_ep_h ep;

    outcome.status = ucp_worker_get_address(peer, &address, &length);
    if (outcome.status != UCS_OK) {
        return outcome;
    }

    params.address = address;
    outcome.status = ucp_ep_create(worker, &params, &ep);
    if (outcome.status == UCS_OK) {
        request = ucp_ep_close_nbx(ep, &closing);
        while (UCS_PTR_IS_PTR(request) &&
               (ucp_request_check_status(request) == UCS_INPROGRESS)) {
            ucp_worker_progress(worker);
        }
        if (UCS_PTR_IS_PTR(request)) {
            ucp_request_free(request);
        }
    }
    ucp_worker_release_address(peer, address);
    return outcome;
}

/* Creates a second worker that has only the transports `tls`, and connects to
 * it. */
static outcome_t connect_to_peer(ucp_worker_h worker, const char *tls)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };
    ucp_worker_params_t wanted = {
        .field_mask = UCP_WORKER_PARAM_FIELD_NAME,
        .name       = "peer",
    };
    outcome_t outcome = {"peer", UCS_OK};
    ucp_config_t *config;
    ucp_context_h context;
    ucp_worker_h peer;

    outcome.status = ucp_config_read(NULL, NULL, &config);
    if (outcome.status != UCS_OK) {
        return outcome;
    }
    outcome.status = ucp_config_modify(config, "TLS", tls);
    if (outcome.status == UCS_OK) {
        outcome.status = ucp_init(&params, config, &context);
    }
    ucp_config_release(config);
    if (outcome.status != UCS_OK) {
        return outcome;
    }
    outcome.status = ucp_worker_create(context, &wanted, &peer);
    if (outcome.status == UCS_OK) {
        outcome = connect_to(worker, peer);
        ucp_worker_destroy(peer);
    }
    ucp_cleanup(context);
    return outcome;
}

/* Creates a listener at an unused port of the loopback device, and destroys
 * it. */
static outcome_t listen_to_nobody(ucp_worker_h worker)
{
    ucp_listener_h listener    = NULL;
    outcome_t outcome          = {"listen", UCS_OK};
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_addr   = {htonl(INADDR_LOOPBACK)},
    };
    ucp_listener_params_t params = {
        .field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
                      UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
        .sockaddr     = {(struct sockaddr *)&address, sizeof(address)},
        .conn_handler = {refuse, &listener},
    };

    outcome.status = ucp_listener_create(worker, &params, &listener);
    if (outcome.status == UCS_OK) {
        ucp_listener_destroy(listener);
    }
    return outcome;
}

static outcome_t run_worker(ucp_context_h context, const char *peer_tls,
                            int listens)
{
    ucp_worker_params_t params = {.field_mask = 0};
    outcome_t outcome          = {"worker", UCS_OK};
    ucp_worker_h worker;

    outcome.status = ucp_worker_create(context, &params, &worker);
    if (outcome.status == UCS_OK) {
        outcome = (peer_tls == NULL) ? connect_to(worker, worker) :
                                       connect_to_peer(worker, peer_tls);
        if (listens && (outcome.status == UCS_OK)) {
            outcome = listen_to_nobody(worker);
        }
        ucp_worker_destroy(worker);
    }
    return outcome;
}

static outcome_t run(ucp_config_t *config, const char *peer_tls, int argc,
                     char **argv)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };
    outcome_t outcome = modify_all(config, argc, argv);
    ucp_context_h context;

    if (outcome.status != UCS_OK) {
        return outcome;
    }

    outcome.step   = "init";
    outcome.status = ucp_init(&params, config, &context);
    if (outcome.status == UCS_OK) {
        outcome = run_worker(context, peer_tls,
                             strcmp(argv[argc - 1], "listen") == 0);
        ucp_cleanup(context);
    }
    return outcome;
}

/* Returns the name of the status's constant, if it is one of those below, which
 * cases.txt expects: names of constants stay the same, while the texts of
 * ucs_status_string() may change. Returns that text for every other status. */
static const char *status_name(ucs_status_t status)
{
    switch (status) {
    case UCS_OK:
        return "UCS_OK";
    case UCS_ERR_NO_DEVICE:
        return "UCS_ERR_NO_DEVICE";
    case UCS_ERR_INVALID_PARAM:
        return "UCS_ERR_INVALID_PARAM";
    case UCS_ERR_UNREACHABLE:
        return "UCS_ERR_UNREACHABLE";
    case UCS_ERR_NO_ELEM:
        return "UCS_ERR_NO_ELEM";
    case UCS_ERR_UNSUPPORTED:
        return "UCS_ERR_UNSUPPORTED";
    default:
        return ucs_status_string(status);
    }
}

int main(int argc, char **argv)
{
    const char *prefix = NULL, *file = NULL, *peer_tls = NULL;
    outcome_t outcome = {"read", UCS_OK};
    ucp_config_t *config;
    int i;

    for (i = 1; i < argc; ++i) {
        if (!is_option(argv[i], "prefix", &prefix) &&
            !is_option(argv[i], "peer", &peer_tls)) {
            is_option(argv[i], "file", &file);
        }
    }

    outcome.status = ucp_config_read(prefix, file, &config);
    if (outcome.status == UCS_OK) {
        outcome = run(config, peer_tls, argc, argv);
        ucp_config_release(config);
    }
    printf("%s %s\n", outcome.step, status_name(outcome.status));
    return 0;
}
