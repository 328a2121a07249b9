/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: the plugin receives the input from the third byte on. The first
 * byte modulo 4 selects from whom: a peer on an established connection (0), a
 * client of an interface that has sent no greeting (1), a client (2) or a
 * server (3) of the connection manager. The data arrives in pieces of as many
 * bytes as the second byte says; 0: in one piece.
 *
 * The key of the registered memory is constant, so that inputs can access it;
 * the memory around it must not change.
 */
#include "../../src/am.h"
#include "../../src/cm.h"
#include "../../src/conn.h"
#include "../../src/sock.h"
#include "host.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define FUZZ_KEY    0x1122334455667788ull
#define FUZZ_ID     0x0102030405060708ull
#define FUZZ_MEMORY 4096
#define FUZZ_GUARD  4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uct_md_h md;
static uct_iface_h iface;
static uct_cm_h cm;
static uint8_t *memory;
static uint64_t consumed;

/* Reads every byte, so that a sanitizer detects an overrun. */
static ucs_status_t on_am(void *arg, void *data, size_t length, unsigned flags)
{
    for (size_t i = 0; i < length; ++i) {
        consumed += ((volatile uint8_t *)data)[i];
    }
    return UCS_OK;
}

static const ucx_component_t *fuzz_component(void)
{
    char reason[128];
    ucx_plugin_args_t args = {
        .size        = sizeof(args),
        .abi_min     = UCX_PLUGIN_ABI(1, 0),
        .abi_max     = UCX_PLUGIN_ABI_VERSION,
        .host        = &fuzz_host,
        .directory   = "",
        .reason      = reason,
        .reason_size = sizeof(reason),
    };
    const ucx_plugin_t *plugin;

    if (ucx_plugin_entry(&args, &plugin) != UCS_OK) {
        abort();
    }
    return plugin->components[0];
}

static void open_iface(const ucx_component_t *component)
{
    static const tcp_iface_config_t config = {
        .tx_seg_size       = 65536,
        .rx_seg_size       = 65536,
        .max_iov           = 16,
        .max_poll          = 4,
        .port_range        = "0",
        .connect_timeout   = 30,
        .handshake_timeout = 10,
        .user_timeout      = 30,
        .max_unknown       = 16,
        .backlog           = 16,
    };
    const ucx_transport_t *transport = component->transports[0];
    ucx_iface_open_args_t args;

    memset(&args, 0, sizeof(args));
    args.size        = sizeof(args);
    args.head.ops    = transport->iface_ops;
    args.head.ep_ops = transport->ep_ops;
    args.head.md     = md;
    args.dev_name    = "lo";
    args.config      = &config;
    for (unsigned i = 0; i < UCT_AM_ID_MAX; ++i) {
        args.head.am[i].cb = on_am;
    }
    if (transport->iface_open(md, &args, &iface) != UCS_OK) {
        abort();
    }
    tcp_iface(iface)->id = FUZZ_ID;
}

static void open_all(void)
{
    static char *families[]                = {"inet"};
    static const tcp_md_config_t md_config = {{families, 1, 0}};
    static const tcp_cm_config_t cm_config = {2048, 30, 16};
    const ucx_component_t *component       = fuzz_component();
    ucx_md_open_args_t md_args             = {
                    .size   = sizeof(md_args),
                    .head   = {component->md_ops, component, NULL},
                    .name   = "tcp",
                    .config = &md_config,
    };
    ucx_cm_open_args_t cm_args = {
        .size = sizeof(cm_args),
        .head =
            {
                .ops       = component->cm_ops,
                .component = component,
                .ep_ops    = component->cm_ops->ep_ops,
            },
        .config = &cm_config,
    };
    tcp_key_t *key;

    if ((component->md_open(component, &md_args, &md) != UCS_OK) ||
        (component->cm_ops->open(component, &cm_args, &cm) != UCS_OK)) {
        abort();
    }
    open_iface(component);

    memory = malloc(FUZZ_MEMORY + 2 * FUZZ_GUARD);
    memset(memory, 0xa5, FUZZ_MEMORY + 2 * FUZZ_GUARD);
    if (tcp_keys_add(&((tcp_md_t *)md)->keys, memory + FUZZ_GUARD, FUZZ_MEMORY,
                     UCT_MD_MEM_ACCESS_ALL, FUZZ_KEY, &key) != UCS_OK) {
        abort();
    }
}

static void check_guards(void)
{
    for (unsigned i = 0; i < FUZZ_GUARD; ++i) {
        if ((memory[i] != 0xa5) ||
            (memory[FUZZ_GUARD + FUZZ_MEMORY + i] != 0xa5)) {
            abort();
        }
    }
}

/* Adds the start of the registered memory to the address after each occurrence
 * of the key: inputs contain offsets instead of addresses. */
static void relocate(uint8_t *data, size_t size)
{
    const uint64_t key = htole64(FUZZ_KEY);
    uint64_t address;

    for (size_t i = 0; i + 16 <= size; i += 8) {
        if (memcmp(data + i, &key, sizeof(key)) == 0) {
            memcpy(&address, data + i + 8, sizeof(address));
            address = htole64(le64toh(address) + (uint64_t)(uintptr_t)memory +
                              FUZZ_GUARD);
            memcpy(data + i + 8, &address, sizeof(address));
        }
    }
}

static void swallow(int fd)
{
    char buffer[65536];

    while (recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT) > 0) {
    }
}

/* --- The four kinds ------------------------------------------------------ */

static void on_complete(uct_completion_t *comp)
{
    comp->count = 1;
}

/* Opens a connection that is up, with two gets outstanding. */
static void start_peer(int fd)
{
    static uct_completion_t comp = {on_complete, 1, UCS_OK};
    static uint8_t target[2][1024];
    tcp_rkey_t rkey = {1};
    uct_iov_t iov;
    tcp_conn_t *conn;
    tcp_ep_t *ep;

    if (tcp_conn_create(tcp_iface(iface), 0x77, 0, 1, &conn) != UCS_OK) {
        abort();
    }
    conn->fd                = fd;
    conn->state             = TCP_CONN_UP;
    conn->puts              = 3;
    conn->peer.sa.sa_family = AF_INET;
    tcp_iface_watch(tcp_iface(iface), EPOLL_CTL_ADD, fd, EPOLLIN, conn,
                    TCP_EVENT_CONN);

    ep = calloc(1, sizeof(*ep));
    ucx_ep_init(&ep->super, iface);
    ep->peer_id = 0x77;
    tcp_list_init(&ep->node);
    tcp_list_init(&ep->pend_node);
    tcp_list_init(&ep->failed_node);
    iov = (uct_iov_t){target[0], 1024, NULL, 0, 1};
    tcp_ep_get_zcopy(&ep->super, &iov, 1, 0, (uct_rkey_t)&rkey, &comp);
    iov = (uct_iov_t){target[1], 100, NULL, 0, 1};
    tcp_ep_get_zcopy(&ep->super, &iov, 1, 0, (uct_rkey_t)&rkey, &comp);
    tcp_ep_ops.destroy(&ep->super);
}

static void start_stranger(int fd)
{
    tcp_unknown_t *unknown = calloc(1, sizeof(*unknown));

    tcp_list_init(&unknown->node);
    unknown->iface    = tcp_iface(iface);
    unknown->fd       = fd;
    unknown->deadline = 1e300;
    tcp_list_add_tail(&tcp_iface(iface)->unknown, &unknown->node);
    ++tcp_iface(iface)->num_unknown;
    tcp_iface_watch(tcp_iface(iface), EPOLL_CTL_ADD, fd, EPOLLIN, unknown,
                    TCP_EVENT_UNKNOWN);
}

static void on_request(uct_listener_h listener, void *arg,
                       const uct_cm_listener_conn_request_args_t *args)
{
    const uct_cm_remote_data_t *remote = args->remote_data;

    on_am(NULL, (void *)remote->conn_priv_data, remote->conn_priv_data_length,
          0);
    on_am(NULL, (void *)remote->dev_addr, remote->dev_addr_length, 0);
    tcp_cm_listener_reject(listener, args->conn_request);
}

static void start_cm_client(int fd)
{
    static tcp_cm_listener_t listener;
    tcp_cm_link_t *link;

    listener.super.cm        = cm;
    listener.conn_request_cb = on_request;
    link                     = tcp_cm_link_create((tcp_cm_t *)cm, fd, EPOLLIN);
    link->listener           = &listener;
    link->deadline           = 1e300;
    tcp_cm_link_set_state(link, TCP_CM_UNKNOWN);
}

static void on_answer(uct_ep_h ep, void *arg,
                      const uct_cm_ep_client_connect_args_t *args)
{
    if (args->status == UCS_OK) {
        on_am(NULL, (void *)args->remote_data->conn_priv_data,
              args->remote_data->conn_priv_data_length, 0);
    }
}

static tcp_cm_ep_t *start_cm_server(int fd)
{
    tcp_cm_ep_t *ep = calloc(1, sizeof(*ep));

    ucx_cm_ep_init(&ep->super, cm);
    ep->cm = (tcp_cm_t *)cm;
    tcp_list_init(&ep->flushes);
    ep->client_cb = on_answer;
    ep->link      = tcp_cm_link_create((tcp_cm_t *)cm, fd, EPOLLIN);
    ep->link->ep  = ep;
    tcp_cm_link_set_state(ep->link, TCP_CM_ASKED);
    return ep;
}

static void progress(void)
{
    tcp_iface_progress(iface);
    tcp_cm_wake((tcp_cm_t *)cm);
    fuzz_host_run_oneshots();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tcp_cm_ep_t *cm_ep = NULL;
    size_t piece, done;
    uint8_t *copy;
    int fds[2];

    if ((size < 2) || (size > 65536)) {
        return 0;
    }
    if (iface == NULL) {
        open_all();
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
                   fds) != 0) {
        abort();
    }

    switch (data[0] % 4) {
    case 0:
        start_peer(fds[0]);
        break;
    case 1:
        start_stranger(fds[0]);
        break;
    case 2:
        start_cm_client(fds[0]);
        break;
    default:
        cm_ep = start_cm_server(fds[0]);
        break;
    }

    piece = (data[1] == 0) ? size : data[1];
    size -= 2;
    copy = malloc(size + 1);
    memcpy(copy, data + 2, size);
    relocate(copy, size);
    for (done = 0; done < size; done += piece) {
        if (size - done < piece) {
            piece = size - done;
        }
        (void)!send(fds[1], copy + done, piece, MSG_NOSIGNAL);
        progress();
        swallow(fds[1]);
    }
    close(fds[1]);
    for (int i = 0; i < 4; ++i) {
        progress();
    }
    if (cm_ep != NULL) {
        tcp_cm_ep_ops.destroy(&cm_ep->super);
        progress();
    }
    free(copy);

    check_guards();
    if (!tcp_list_is_empty(&tcp_iface(iface)->conns) ||
        !tcp_list_is_empty(&tcp_iface(iface)->unknown) ||
        !tcp_list_is_empty(&((tcp_cm_t *)cm)->links)) {
        abort(); /* A connection or link is left over */
    }
    return 0;
}
