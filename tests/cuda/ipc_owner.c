/* SPDX-License-Identifier: BSD-3-Clause */
/* See ipc_owner.h. */
#include "ipc_owner.h"
#include "suite.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ipc_memory.h>

enum { MAX_SIDES = 2, MAX_OWNED = 8 };

uct_component_h component;
uct_iface_h iface;
pid_t child;

static uct_md_h md;
/* link_fd: this process's end of the socket pair between the test process and
 * the owner. test_fd: in the owner, an inherited copy of the test process's
 * end, which the owner closes. */
static int link_fd, test_fd;

/* Open interfaces; the last one is `iface`. */
static struct {
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_iface_h iface;
} sides[MAX_SIDES];
static unsigned num_sides;

/* Memory that the owner process has allocated. */
static struct {
    memory_kind_t kind;
    uint64_t address;
} owned[MAX_OWNED];
static unsigned num_owned;

/* ------------------------------------------------------------ both sides -- */

static void open_md(void)
{
    uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME};
    uct_component_h *components;
    unsigned count, i;

    ck_ok(uct_query_components(&components, &count));
    for (i = 0; i < count; ++i) {
        ck_ok(uct_component_query(components[i], &attr));
        if (strcmp(attr.name, DEVICE_IPC) == 0) {
            component = components[i];
        }
    }
    uct_release_component_list(components);
    ck_assert_ptr_nonnull(component);
    ck_ok(uct_md_open(component, DEVICE_IPC, NULL, &md));
}

/* Opens an interface with a separate worker. */
static void open_one(void)
{
    uct_iface_params_t params = {
        .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                      UCT_IFACE_PARAM_FIELD_DEVICE,
        .open_mode   = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device = {.tl_name = DEVICE_IPC, .dev_name = DEVICE_SUITE},
    };
    ucs_async_context_t *async;
    uct_iface_config_t *config;
    uct_worker_h worker;

    ck_assert_uint_lt(num_sides, MAX_SIDES);
    ck_ok(ucs_async_context_create(UCS_ASYNC_MODE_THREAD, &async));
    ck_ok(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker));
    ck_ok(uct_md_iface_config_read(md, DEVICE_IPC, NULL, NULL, &config));
    ck_ok(uct_config_modify(config, "MAX_MAPPINGS", "2"));
    ck_ok(uct_iface_open(md, worker, &params, config, &iface));
    uct_config_release(config);
    sides[num_sides].async   = async;
    sides[num_sides].worker  = worker;
    sides[num_sides++].iface = iface;
}

static void close_one(unsigned number)
{
    uct_iface_close(sides[number].iface);
    uct_worker_destroy(sides[number].worker);
    ucs_async_context_destroy(sides[number].async);
    --num_sides;
    sides[number] = sides[num_sides];
}

uct_iface_h open_other_iface(void)
{
    uct_iface_h first = iface;

    open_one();
    return first;
}

void close_first_iface(void)
{
    close_one(0);
}

void open_iface(addresses_t *addresses)
{
    device_start();
    open_md();
    open_one();
    ck_ok(uct_iface_get_device_address(iface,
                                       (uct_device_addr_t *)addresses->device));
    ck_ok(uct_iface_get_address(iface, (uct_iface_addr_t *)addresses->iface));
}

void close_iface(void)
{
    while (num_sides > 0) {
        close_one(0);
    }
    uct_md_close(md);
}

static void send_all(const void *data, size_t length)
{
    ck_assert_int_eq(send(link_fd, data, length, MSG_NOSIGNAL),
                     (ssize_t)length);
}

static void receive_all(void *data, size_t length)
{
    ck_assert_int_eq(recv(link_fd, data, length, MSG_WAITALL), (ssize_t)length);
}

/* ------------------------------------------------------------- the owner -- */

static void disown(uint64_t address)
{
    unsigned i;

    for (i = 0; i < num_owned; ++i) {
        if (owned[i].address == address) {
            owned[i] = owned[--num_owned];
        }
    }
}

static void release(uint64_t address)
{
    unsigned i;

    for (i = 0; i < num_owned; ++i) {
        if (owned[i].address == address) {
            memory_release(owned[i].kind, address);
        }
    }
    disown(address);
}

static uint64_t own(const order_t *order)
{
    uint64_t address = memory_allocate(order->memory, order->address);

    disown(order->address);
    ck_assert_uint_lt(num_owned, MAX_OWNED);
    owned[num_owned].kind      = order->memory;
    owned[num_owned++].address = address;
    memset(emulated_view((void *)(uintptr_t)address, LENGTH), order->value,
           LENGTH);
    return address;
}

static void export(uint64_t address, answer_t *answer)
{
    uct_mem_h memh;

    answer->address = address;
    answer->status  = uct_md_mem_reg(md, (void *)(uintptr_t)address, LENGTH,
                                     UCT_MD_MEM_ACCESS_ALL, &memh);
    if (answer->status == UCS_OK) {
        ck_ok(uct_md_mkey_pack(md, memh, answer->key));
        ck_ok(uct_md_mem_dereg(md, memh));
    }
}

static char read_last(uint64_t address)
{
    return *(char *)emulated_view((void *)(uintptr_t)(address + LENGTH - 1), 1);
}

static void obey(const order_t *order)
{
    answer_t answer = {.status = UCS_OK};

    switch (order->kind) {
    case ALLOCATE:
        export(own(order), &answer);
        if (order->memory == UNEXPORTABLE) {
            release(answer.address);
        }
        break;
    case REGISTER:
        export(order->address, &answer);
        break;
    case REPLACE_IFACE:
        open_one();
        close_first_iface();
        break;
    case RELEASE:
        release(order->address);
        break;
    default:
        answer.value = read_last(order->address);
        break;
    }
    answer.exports = (unsigned)emulated_calls(DEVICE_EXPORT);
    send_all(&answer, sizeof(answer));
}

START_TEST(the_owner_executes_orders)
{
    addresses_t addresses;
    order_t order;

    /* an open copy of the test process's end would keep the connection open
     * after the end of that process: receive_all() would never return */
    close(test_fd);
    open_iface(&addresses);
    device_open();
    send_all(&addresses, sizeof(addresses));
    for (;;) {
        receive_all(&order, sizeof(order));
        if (order.kind == QUIT) {
            break;
        }
        obey(&order);
    }
    close_iface();
    while (num_owned > 0) {
        release(owned[0].address);
    }
    device_close();
    close(link_fd);
}
END_TEST

static answer_t send_order(const order_t *order)
{
    answer_t answer;

    send_all(order, sizeof(*order));
    receive_all(&answer, sizeof(answer));
    return answer;
}

answer_t tell(order_kind_t kind, uint64_t address)
{
    const order_t order = {.kind = kind, .address = address};

    return send_order(&order);
}

answer_t allocate(memory_kind_t memory, uint64_t address, char value)
{
    const order_t order = {ALLOCATE, memory, address, value};

    return send_order(&order);
}

void fork_owner(void)
{
    int sockets[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    link_fd = sockets[1];
    test_fd = sockets[0];
    child   = suite_fork(DEVICE_IPC ", owner", the_owner_executes_orders);
    close(sockets[1]);
    link_fd = sockets[0];
}

void owner_addresses(addresses_t *addresses)
{
    receive_all(addresses, sizeof(*addresses));
}

void end_owner(void)
{
    const order_t order = {.kind = QUIT};
    int status;

    if (child != 0) {
        send_all(&order, sizeof(order));
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
    }
    close(link_fd);
}
