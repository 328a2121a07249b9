/* SPDX-License-Identifier: BSD-3-Clause */
/* See ipc_owner.h. */
#include "ipc_owner.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

uct_component_h component;
uct_iface_h iface;
pid_t child;

static ucs_async_context_t *async;
static uct_worker_h worker;
static uct_md_h md;
static int link_fd;
static CUmemoryPool pool; /* Of the owner */

/* ------------------------------------------------------------ both sides -- */

static void open_md(void)
{
    uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME};
    uct_component_h *components;
    unsigned count, i;

    ck_ok(uct_query_components(&components, &count));
    for (i = 0; i < count; ++i) {
        ck_ok(uct_component_query(components[i], &attr));
        if (strcmp(attr.name, "cuda_ipc") == 0) {
            component = components[i];
        }
    }
    uct_release_component_list(components);
    ck_assert_ptr_nonnull(component);
    ck_ok(uct_md_open(component, "cuda_ipc", NULL, &md));
}

/* With a worker of its own. */
static void open_one(void)
{
    uct_iface_params_t params = {
        .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                      UCT_IFACE_PARAM_FIELD_DEVICE,
        .open_mode   = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device = {.tl_name = "cuda_ipc", .dev_name = "cuda"},
    };
    uct_iface_config_t *config;

    ck_ok(ucs_async_context_create(UCS_ASYNC_MODE_THREAD, &async));
    ck_ok(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker));
    ck_ok(uct_md_iface_config_read(md, "cuda_ipc", NULL, NULL, &config));
    ck_ok(uct_config_modify(config, "MAX_MAPPINGS", "2"));
    ck_ok(uct_iface_open(md, worker, &params, config, &iface));
    uct_config_release(config);
}

static void close_one(void)
{
    uct_iface_close(iface);
    uct_worker_destroy(worker);
    ucs_async_context_destroy(async);
}

void open_iface(addresses_t *addresses)
{
    ck_cuda(cuInit(0));
    open_md();
    open_one();
    ck_ok(uct_iface_get_device_address(iface,
                                       (uct_device_addr_t *)addresses->device));
    ck_ok(uct_iface_get_address(iface, (uct_iface_addr_t *)addresses->iface));
}

void close_iface(void)
{
    close_one();
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

/* From a pool that can be exported. */
static CUdeviceptr allocate_shared(void)
{
    const CUmemPoolProps props = {
        .allocType   = CU_MEM_ALLOCATION_TYPE_PINNED,
        .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location    = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
    };
    CUdeviceptr address;

    ck_cuda(cuMemPoolCreate(&pool, &props));
    ck_cuda(cuMemAllocFromPoolAsync(&address, LENGTH, pool, NULL));
    ck_cuda(cuStreamSynchronize(NULL));
    return address;
}

static void release_pooled(CUdeviceptr address)
{
    ck_cuda(cuMemFreeAsync(address, NULL));
    ck_cuda(cuStreamSynchronize(NULL));
}

static CUdeviceptr allocate(const order_t *order)
{
    CUdeviceptr address;

    switch (order->kind) {
    case ALLOCATE:
        ck_cuda(cuMemAlloc_v2(&address, LENGTH));
        return address;
    case ALLOCATE_VIRTUAL:
        return map_virtual(order->address);
    case ALLOCATE_SHARED:
        return allocate_shared();
    default:
        ck_cuda(cuMemAllocAsync(&address, LENGTH, NULL));
        return address;
    }
}

static void own(const order_t *order, answer_t *answer)
{
    CUdeviceptr address = order->address;
    uct_mem_h memh;

    if (order->kind != REGISTER) {
        address = allocate(order);
        ck_cuda(cuMemsetD8_v2(address, (unsigned char)order->value, LENGTH));
    }
    answer->address = address;
    answer->status  = uct_md_mem_reg(md, (void *)(uintptr_t)address, LENGTH,
                                     UCT_MD_MEM_ACCESS_ALL, &memh);
    if (answer->status == UCS_OK) {
        ck_ok(uct_md_mkey_pack(md, memh, answer->key));
        ck_ok(uct_md_mem_dereg(md, memh));
    }
    if (order->kind == ALLOCATE_POOLED) {
        release_pooled(address);
    }
}

/* Opens another interface, then closes the first one. */
static void replace_iface(void)
{
    ucs_async_context_t *first_async = async;
    uct_worker_h first_worker        = worker;
    uct_iface_h first                = iface;

    open_one();
    uct_iface_close(first);
    uct_worker_destroy(first_worker);
    ucs_async_context_destroy(first_async);
}

static void obey(const order_t *order)
{
    answer_t answer = {.status = UCS_OK};

    switch (order->kind) {
    case ALLOCATE:
    case ALLOCATE_VIRTUAL:
    case ALLOCATE_POOLED:
    case ALLOCATE_SHARED:
    case REGISTER:
        own(order, &answer);
        break;
    case REPLACE_IFACE:
        replace_iface();
        break;
    case RELEASE:
        ck_cuda(cuMemFree_v2(order->address));
        break;
    case RELEASE_SHARED:
        release_pooled(order->address);
        ck_cuda(cuMemPoolDestroy(pool));
        break;
    case RELEASE_VIRTUAL:
        unmap_virtual(order->address);
        break;
    default:
        ck_cuda(cuMemcpyDtoH_v2(&answer.value, order->address + LENGTH - 1, 1));
        break;
    }
    answer.exports = (unsigned)emulated_calls("cuMemExportToShareableHandle");
    send_all(&answer, sizeof(answer));
}

static void owner(void)
{
    addresses_t addresses;
    CUcontext context;
    order_t order;

    open_iface(&addresses);
    ck_cuda(cuCtxCreate_v2(&context, 0, 0));
    send_all(&addresses, sizeof(addresses));
    for (;;) {
        receive_all(&order, sizeof(order));
        if (order.kind == QUIT) {
            break;
        }
        obey(&order);
    }
    close_iface();
    ck_cuda(cuCtxDestroy_v2(context)); /* releases all memory */
    exit(EXIT_SUCCESS);
}

answer_t tell(order_kind_t kind, uint64_t address, char value)
{
    const order_t order = {kind, address, value};
    answer_t answer;

    send_all(&order, sizeof(order));
    receive_all(&answer, sizeof(answer));
    return answer;
}

void fork_owner(void)
{
    int sockets[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    child = fork();
    if (child == 0) {
        close(sockets[0]);
        link_fd = sockets[1];
        owner();
    }
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
