/* SPDX-License-Identifier: BSD-3-Clause */
#include "node.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ucx/inspect.h>

static const char *const transports[NODE_KINDS] = {"ugni_smsg", "ugni_rdma"};

double node_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

void domain_open(domain_t *domain)
{
    uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME};
    uct_md_config_t *config;
    uct_component_h *list;
    unsigned num;

    domain->component = NULL;
    domain->device = (strcmp(getenv("UCX_UGNI_PROVIDER"), "shm") == 0) ? "shm" :
                                                                         "lo";
    ASSERT_OK(uct_query_components(&list, &num));
    for (unsigned i = 0; i < num; ++i) {
        ASSERT_OK(uct_component_query(list[i], &attr));
        if (strcmp(attr.name, "ugni") == 0) {
            domain->component = list[i];
        }
    }
    uct_release_component_list(list);
    ck_assert_ptr_nonnull(domain->component);
    ASSERT_OK(uct_md_config_read(domain->component, NULL, NULL, &config));
    ASSERT_OK(uct_md_open(domain->component, "ugni", config, &domain->md));
    uct_config_release(config);
}

static ucs_status_t on_message(void *arg, void *data, size_t length,
                               unsigned flags)
{
    node_t *node = arg;

    memcpy(&node->last, data, sizeof(node->last));
    ++node->received;
    return UCS_OK;
}

static ucs_status_t on_failure(void *arg, uct_ep_h ep, ucs_status_t status)
{
    node_t *node = arg;

    node->failed = status;
    ++node->failures;
    return UCS_OK;
}

static void open_iface(node_t *node, int kind,
                       const uct_iface_params_t *callbacks)
{
    uct_iface_params_t params = {
        .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                      UCT_IFACE_PARAM_FIELD_DEVICE |
                      UCT_IFACE_PARAM_FIELD_ERR_HANDLER |
                      UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG,
        .open_mode            = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device.tl_name  = transports[kind],
        .mode.device.dev_name = node->domain->device,
        .err_handler          = on_failure,
        .err_handler_arg      = node,
    };
    uct_iface_config_t *config;
    uct_iface_attr_t attr;
    uct_iface_h iface;

    if (callbacks != NULL) {
        params.field_mask |= callbacks->field_mask;
        params.eager_cb  = callbacks->eager_cb;
        params.eager_arg = callbacks->eager_arg;
        params.rndv_cb   = callbacks->rndv_cb;
        params.rndv_arg  = callbacks->rndv_arg;
    }
    ASSERT_OK(uct_md_iface_config_read(node->domain->md, transports[kind], NULL,
                                       NULL, &config));
    ASSERT_OK(uct_iface_open(node->domain->md, node->worker, &params, config,
                             &iface));
    uct_config_release(config);
    uct_iface_progress_enable(iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    ASSERT_OK(uct_iface_query(iface, &attr));
    ck_assert_uint_le(attr.device_addr_len, NODE_ADDR_MAX);
    ck_assert_uint_le(attr.iface_addr_len, NODE_ADDR_MAX);
    ASSERT_OK(uct_iface_get_device_address(iface, (void *)node->dev[kind]));
    ASSERT_OK(uct_iface_get_address(iface, (void *)node->addr[kind]));
    node->ifaces[kind] = iface;
}

void node_open(node_t *node, domain_t *domain)
{
    node_open_with(node, domain, NULL);
}

static void open_node(node_t *node, domain_t *domain,
                      const uct_iface_params_t *callbacks, int is_polled)
{
    memset(node, 0, sizeof(*node));
    node->domain = domain;
    ASSERT_OK(
        ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &node->async));
    ASSERT_OK(
        uct_worker_create(node->async, UCS_THREAD_MODE_SINGLE, &node->worker));
    if (is_polled) {
        ucx_inspect_worker_polled(node->worker);
    }
    for (int kind = 0; kind < NODE_KINDS; ++kind) {
        open_iface(node, kind, callbacks);
    }
    ASSERT_OK(uct_iface_set_am_handler(node->ifaces[NODE_SMSG], NODE_AM_ID,
                                       on_message, node, 0));
}

void node_open_with(node_t *node, domain_t *domain,
                    const uct_iface_params_t *callbacks)
{
    open_node(node, domain, callbacks, 0);
}

void node_open_polled(node_t *node, domain_t *domain)
{
    open_node(node, domain, NULL, 1);
}

void node_close(node_t *node)
{
    for (int kind = 0; kind < NODE_KINDS; ++kind) {
        uct_iface_close(node->ifaces[kind]);
    }
    uct_worker_destroy(node->worker);
    ucs_async_context_destroy(node->async);
}

static ucs_status_t arm(const node_t *node)
{
    ucs_status_t status = UCS_OK;

    for (int kind = 0; (kind < NODE_KINDS) && (status == UCS_OK); ++kind) {
        status = uct_iface_event_arm(node->ifaces[kind], UCT_EVENT_RECV);
    }
    return status;
}

void node_arm(node_t *node)
{
    double end = node_now() + NODE_TIMEOUT;
    ucs_status_t status;

    while ((status = arm(node)) == UCS_ERR_BUSY) {
        uct_worker_progress(node->worker);
        ck_assert_msg(node_now() < end, "there is always an event");
    }
    ASSERT_OK(status);
}

void node_sleep(node_t *node, node_t *peer)
{
    struct pollfd set[NODE_KINDS];
    double end = node_now() + NODE_TIMEOUT;

    for (int kind = 0; kind < NODE_KINDS; ++kind) {
        set[kind].events = POLLIN;
        ASSERT_OK(uct_iface_event_fd_get(node->ifaces[kind], &set[kind].fd));
    }
    while (poll(set, NODE_KINDS, 0) == 0) {
        uct_worker_progress(peer->worker);
        ck_assert_msg(node_now() < end, "nothing wakes the user");
    }
}

ucs_status_t node_connect(node_t *node, int kind, const node_t *peer,
                          uct_ep_h *ep_p)
{
    const uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                      UCT_EP_PARAM_FIELD_IFACE_ADDR,
        .iface      = node->ifaces[kind],
        .dev_addr   = (const void *)peer->dev[kind],
        .iface_addr = (const void *)peer->addr[kind],
    };

    return uct_ep_create(&params, ep_p);
}

void node_say(node_t *node, uct_ep_h ep, node_t *peer, uint64_t header)
{
    unsigned received = peer->received;
    ucs_status_t status;

    while ((status = uct_ep_am_short(ep, NODE_AM_ID, header, NULL, 0)) ==
           UCS_ERR_NO_RESOURCE) {
        uct_worker_progress(node->worker);
        uct_worker_progress(peer->worker);
    }
    ASSERT_OK(status);
    NODE_WAIT(node, peer, peer->received > received);
    ck_assert_uint_eq(peer->last, header);
}

uct_mem_h node_register(domain_t *domain, void *address, size_t length,
                        uct_rkey_bundle_t *rkey)
{
    uct_md_attr_t attr;
    uct_mem_h memh;
    void *packed;

    ASSERT_OK(uct_md_mem_reg(domain->md, address, length, UCT_MD_MEM_ACCESS_ALL,
                             &memh));
    ASSERT_OK(uct_md_query(domain->md, &attr));
    packed = malloc(attr.rkey_packed_size);
    ASSERT_OK(uct_md_mkey_pack(domain->md, memh, packed));
    ASSERT_OK(uct_rkey_unpack(domain->component, packed, rkey));
    free(packed);
    return memh;
}

static void on_flushed(uct_completion_t *comp)
{
}

ucs_status_t node_flush(node_t *node, uct_ep_h ep, node_t *peer)
{
    uct_completion_t comp = {
        .func   = on_flushed,
        .count  = 1,
        .status = UCS_OK,
    };
    ucs_status_t status;

    while ((status = uct_ep_flush(ep, UCT_FLUSH_FLAG_REMOTE, &comp)) ==
           UCS_ERR_NO_RESOURCE) {
        uct_worker_progress(node->worker);
        uct_worker_progress(peer->worker);
    }
    if (status == UCS_INPROGRESS) {
        NODE_WAIT(node, peer, comp.count == 0);
        status = comp.status;
    }
    return status;
}

void pair_open(pair_t *pair, void *memory, size_t length)
{
    domain_open(&pair->domain);
    node_open(&pair->a, &pair->domain);
    node_open(&pair->b, &pair->domain);
    pair->memh = node_register(&pair->domain, memory, length, &pair->rkey);
}

void pair_close_but_key(pair_t *pair)
{
    ASSERT_OK(uct_md_mem_dereg(pair->domain.md, pair->memh));
    node_close(&pair->b);
    node_close(&pair->a);
    uct_md_close(pair->domain.md);
}

void pair_close(pair_t *pair)
{
    uct_rkey_release(pair->domain.component, &pair->rkey);
    pair_close_but_key(pair);
}

int node_run(TCase *tcase)
{
    Suite *suite = suite_create("ugni");
    SRunner *runner;
    int failed;

    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
