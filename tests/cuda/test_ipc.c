/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cuda_ipc between two processes over the emulated driver, through the public
 * UCT API: which memory is opened, for how long, and when it is not used any
 * more. The child owns memory and obeys the parent, which puts and gets.
 */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <uct/api/uct.h>

#include "../emulated/cuda/face.h"
#include "../emulated/emulated.h"

enum {
    LENGTH      = 100000,
    UNIT        = 2 * 1024 * 1024,   /* of virtual memory */
    MAX_KEY     = 256,
    MAX_ADDRESS = 64,
    KEPT        = 2
};

#define ck_ok(_call)   ck_assert_int_eq((_call), UCS_OK)
#define ck_cuda(_call) ck_assert_int_eq((_call), CUDA_SUCCESS)

typedef enum {
    ALLOCATE, ALLOCATE_VIRTUAL, ALLOCATE_POOLED, ALLOCATE_SHARED, REGISTER,
    RELEASE, RELEASE_VIRTUAL, RELEASE_SHARED, READ, QUIT
} order_kind_t;

typedef struct {
    order_kind_t kind;
    /* ALLOCATE_VIRTUAL: replace the memory there, or 0 */
    uint64_t     address;
    char         value;    /* ALLOCATE: of all bytes */
} order_t;

/* How the parent reaches the memory. */
typedef struct {
    ucs_status_t status;
    uint64_t     address;
    char         value;    /* READ: of the last byte */
    /* By descriptor, since the start */
    unsigned     exports;
    char         key[MAX_KEY];
} answer_t;

typedef struct {
    char device[MAX_ADDRESS], iface[MAX_ADDRESS];
} addresses_t;

typedef struct {
    uct_completion_t comp;
    int              calls;
} done_t;

static ucs_async_context_t *async;
static uct_worker_h worker;
static uct_component_h component;
static uct_md_h md;
static uct_iface_h iface;
static uct_ep_h ep;
static int link_fd;
static CUmemoryPool pool;   /* Of the owner */
static pid_t child;

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

static void open_iface(addresses_t *addresses)
{
    uct_iface_params_t params = {
        .field_mask  = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                       UCT_IFACE_PARAM_FIELD_DEVICE,
        .open_mode   = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device = {.tl_name = "cuda_ipc", .dev_name = "cuda"}
    };
    uct_iface_config_t *config;

    ck_cuda(cuInit(0));
    open_md();
    ck_ok(ucs_async_context_create(UCS_ASYNC_MODE_THREAD, &async));
    ck_ok(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker));
    ck_ok(uct_md_iface_config_read(md, "cuda_ipc", NULL, NULL, &config));
    ck_ok(uct_config_modify(config, "MAX_MAPPINGS", "2"));
    ck_ok(uct_iface_open(md, worker, &params, config, &iface));
    uct_config_release(config);
    ck_ok(uct_iface_get_device_address(
            iface, (uct_device_addr_t *)addresses->device));
    ck_ok(uct_iface_get_address(iface, (uct_iface_addr_t *)addresses->iface));
}

static void close_iface(void)
{
    uct_iface_close(iface);
    uct_worker_destroy(worker);
    ucs_async_context_destroy(async);
    uct_md_close(md);
}

static void send_all(const void *data, size_t length)
{
    ck_assert_int_eq(send(link_fd, data, length, MSG_NOSIGNAL),
                     (ssize_t)length);
}

static void receive_all(void *data, size_t length)
{
    ck_assert_int_eq(recv(link_fd, data, length, MSG_WAITALL),
                     (ssize_t)length);
}

/* ------------------------------------------------------------- the owner -- */

/* At an address that has memory already, or anywhere. */
static CUdeviceptr map_virtual(CUdeviceptr address)
{
    const CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}
    };
    const CUmemAccessDesc access = {prop.location,
                                    CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;

    if (address == 0) {
        ck_cuda(cuMemAddressReserve(&address, UNIT, 0, 0, 0));
    } else {
        ck_cuda(cuMemUnmap(address, UNIT));
    }
    ck_cuda(cuMemCreate(&handle, UNIT, &prop, 0));
    ck_cuda(cuMemMap(address, UNIT, 0, handle, 0));
    ck_cuda(cuMemSetAccess(address, UNIT, &access, 1));
    ck_cuda(cuMemRelease(handle));
    return address;
}

/* From a pool that can be exported. */
static CUdeviceptr allocate_shared(void)
{
    const CUmemPoolProps props = {
        .allocType   = CU_MEM_ALLOCATION_TYPE_PINNED,
        .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location    = {CU_MEM_LOCATION_TYPE_DEVICE, 0}
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
    case RELEASE:
        ck_cuda(cuMemFree_v2(order->address));
        break;
    case RELEASE_SHARED:
        release_pooled(order->address);
        ck_cuda(cuMemPoolDestroy(pool));
        break;
    case RELEASE_VIRTUAL:
        ck_cuda(cuMemUnmap(order->address, UNIT));
        ck_cuda(cuMemAddressFree(order->address, UNIT));
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

static answer_t tell(order_kind_t kind, uint64_t address, char value)
{
    const order_t order = {kind, address, value};
    answer_t answer;

    send_all(&order, sizeof(order));
    receive_all(&answer, sizeof(answer));
    return answer;
}

/* --------------------------------------------------------------- fixture -- */

static void fork_owner(void)
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

static void setup(void)
{
    addresses_t own_addresses, peer;
    uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                      UCT_EP_PARAM_FIELD_IFACE_ADDR,
        .dev_addr   = (const uct_device_addr_t *)peer.device,
        .iface_addr = (const uct_iface_addr_t *)peer.iface
    };

    fork_owner();
    open_iface(&own_addresses);
    receive_all(&peer, sizeof(peer));
    ck_assert_int_ne(uct_iface_is_reachable(iface, params.dev_addr,
                                            params.iface_addr), 0);
    params.iface = iface;
    ck_ok(uct_ep_create(&params, &ep));
}

static void teardown(void)
{
    const order_t order = {.kind = QUIT};
    int status;

    emulated_release();
    if (ep != NULL) {
        uct_ep_destroy(ep);
        ep = NULL;
    }
    close_iface();
    if (child != 0) {
        send_all(&order, sizeof(order));
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
    }
    close(link_fd);
    ck_assert_uint_eq(emulated_mistakes(), 0);
}

/* --------------------------------------------------------------- helpers -- */

static void count_call(uct_completion_t *comp)
{
    ++((done_t *)comp)->calls;
}

static ucs_status_t start(done_t *done, int is_put, const answer_t *memory,
                          size_t offset, void *data, size_t length)
{
    const uct_iov_t iov = {.buffer = data, .length = length, .count = 1};
    uint64_t address    = memory->address + offset;
    uct_rkey_bundle_t key;
    ucs_status_t status;

    *done = (done_t){.comp = {.func = count_call, .count = 1}};
    ck_ok(uct_rkey_unpack(component, memory->key, &key));
    status = is_put ? uct_ep_put_zcopy(ep, &iov, 1, address, key.rkey,
                                       &done->comp) :
                      uct_ep_get_zcopy(ep, &iov, 1, address, key.rkey,
                                       &done->comp);
    ck_ok(uct_rkey_release(component, &key));
    return status;
}

static ucs_status_t finish(done_t *done)
{
    while (done->calls == 0) {
        uct_iface_progress(iface);
    }
    ck_assert_int_eq(done->calls, 1);
    return done->comp.status;
}

static void copy(int is_put, const answer_t *memory, size_t offset, void *data,
                 size_t length)
{
    done_t done;

    ck_assert_int_eq(start(&done, is_put, memory, offset, data, length),
                     UCS_INPROGRESS);
    ck_ok(finish(&done));
}

/* Gets the last byte. */
static char last_byte(const answer_t *memory)
{
    char byte = 0;

    copy(0, memory, LENGTH - 1, &byte, 1);
    return byte;
}

static unsigned long opened(void)
{
    return emulated_calls("cuIpcOpenMemHandle_v2");
}

static unsigned long closed(void)
{
    return emulated_calls("cuIpcCloseMemHandle");
}

/* ----------------------------------------------------------------- tests -- */

START_TEST(memory_is_opened_once_and_copied_directly)
{
    answer_t memory      = tell(ALLOCATE, 0, 1);
    char *data           = malloc(LENGTH);
    unsigned long before = opened();
    CUcontext context;
    CUdeviceptr own;
    int i;

    ck_cuda(cuCtxCreate_v2(&context, 0, 0));
    ck_cuda(cuMemAlloc_v2(&own, LENGTH));
    for (i = 0; i < 10; ++i) {
        ck_cuda(cuMemsetD8_v2(own, (unsigned char)(10 + i), LENGTH));
        copy(1, &memory, 0, (void *)(uintptr_t)own, LENGTH);
        ck_assert_int_eq(tell(READ, memory.address, 0).value, 10 + i);
    }
    memset(data, 0, LENGTH);
    copy(0, &memory, 5, data, LENGTH - 5);
    ck_assert_int_eq(data[LENGTH - 6], 19);
    ck_assert_int_eq(data[LENGTH - 5], 0);
    memset(data, 50, LENGTH);
    copy(1, &memory, 0, data, LENGTH);
    ck_assert_int_eq(tell(READ, memory.address, 0).value, 50);
    ck_assert_uint_eq(opened() - before, 1);
    ck_cuda(cuCtxDestroy_v2(context));
    free(data);
}
END_TEST

START_TEST(other_memory_at_the_same_address_is_opened_again)
{
    answer_t first             = tell(ALLOCATE, 0, 1);
    unsigned long open_before  = opened();
    unsigned long close_before = closed();
    answer_t second;

    ck_assert_int_eq(last_byte(&first), 1);
    ck_ok(tell(RELEASE, first.address, 0).status);
    second = tell(ALLOCATE, 0, 2);
    ck_assert_uint_eq(second.address, first.address);
    ck_assert_int_eq(last_byte(&second), 2);
    ck_assert_uint_eq(opened() - open_before, 2);
    ck_assert_uint_eq(closed() - close_before, 1);
}
END_TEST

START_TEST(a_mapping_in_use_is_closed_after_its_copies)
{
    answer_t first             = tell(ALLOCATE, 0, 1);
    unsigned long close_before = closed();
    answer_t second;
    done_t done[2];
    char bytes[2];

    ck_assert_int_eq(last_byte(&first), 1);
    emulated_hold();
    ck_assert_int_eq(start(&done[0], 0, &first, 0, &bytes[0], 1),
                     UCS_INPROGRESS);
    ck_ok(tell(RELEASE, first.address, 0).status);
    second = tell(ALLOCATE, 0, 2);
    ck_assert_uint_eq(second.address, first.address);
    ck_assert_int_eq(start(&done[1], 0, &second, 0, &bytes[1], 1),
                     UCS_INPROGRESS);
    ck_assert_uint_eq(closed(), close_before);
    emulated_release();
    ck_ok(finish(&done[0]));
    ck_ok(finish(&done[1]));
    ck_assert_uint_eq(closed() - close_before, 1);
    ck_assert_int_eq(bytes[0], 1);
    ck_assert_int_eq(bytes[1], 2);
}
END_TEST

START_TEST(no_more_than_the_limit_stay_open)
{
    unsigned long open_before  = opened();
    unsigned long close_before = closed();
    answer_t memory[KEPT + 1];
    int i;

    for (i = 0; i <= KEPT; ++i) {
        memory[i] = tell(ALLOCATE, 0, (char)i);
        ck_assert_int_eq(last_byte(&memory[i]), i);
    }
    ck_assert_uint_eq(opened() - open_before, KEPT + 1);
    ck_assert_uint_eq(closed() - close_before, 1);
    ck_assert_int_eq(last_byte(&memory[KEPT]), KEPT);
    ck_assert_uint_eq(opened() - open_before, KEPT + 1);
    ck_assert_int_eq(last_byte(&memory[0]), 0);
    ck_assert_uint_eq(opened() - open_before, KEPT + 2);
    ck_assert_uint_eq(closed() - close_before, 2);
}
END_TEST

START_TEST(the_last_endpoint_closes_the_mappings_of_its_peer)
{
    answer_t memory            = tell(ALLOCATE, 0, 1);
    unsigned long close_before = closed();

    ck_assert_int_eq(last_byte(&memory), 1);
    uct_ep_destroy(ep);
    ep = NULL;
    ck_assert_uint_eq(closed() - close_before, 1);
}
END_TEST

static unsigned long imported(void)
{
    return emulated_calls("cuMemImportFromShareableHandle");
}

START_TEST(virtual_memory_is_exported_and_opened_once)
{
    answer_t memory      = tell(ALLOCATE_VIRTUAL, 0, 1);
    unsigned long before = imported();
    answer_t again;
    char byte;
    int i;

    ck_ok(memory.status);
    ck_assert_uint_eq(memory.exports, 1);
    for (i = 0; i < 5; ++i) {
        again = tell(REGISTER, memory.address, 0);
        byte  = (char)(10 + i);
        copy(1, &again, LENGTH - 1, &byte, 1);
        ck_assert_int_eq(tell(READ, memory.address, 0).value, 10 + i);
    }
    ck_assert_int_eq(last_byte(&again), 14);
    ck_assert_uint_eq(again.exports, 1);
    ck_assert_uint_eq(imported() - before, 1);
    tell(RELEASE_VIRTUAL, memory.address, 0);
}
END_TEST

START_TEST(other_virtual_memory_at_the_same_address_is_opened_again)
{
    answer_t first = tell(ALLOCATE_VIRTUAL, 0, 1);
    answer_t second;

    ck_assert_int_eq(last_byte(&first), 1);
    second = tell(ALLOCATE_VIRTUAL, first.address, 2);
    ck_assert_uint_eq(second.address, first.address);
    ck_assert_uint_eq(second.exports, 2);
    ck_assert_int_eq(last_byte(&second), 2);
    tell(RELEASE_VIRTUAL, second.address, 0);
}
END_TEST

START_TEST(memory_of_a_pool_is_closed_before_its_owner_frees_it)
{
    answer_t memory = tell(ALLOCATE_SHARED, 0, 1);
    char byte       = 5;

    ck_ok(memory.status);
    ck_assert_int_eq(last_byte(&memory), 1);
    ck_assert_uint_eq(emulated_calls("cuMemFreeAsync"), 1);
    copy(1, &memory, LENGTH - 1, &byte, 1);
    ck_assert_uint_eq(emulated_calls("cuMemFreeAsync"), 2);
    ck_assert_uint_eq(emulated_calls("cuMemPoolDestroy"), 2);
    ck_assert_int_eq(tell(READ, memory.address, 0).value, 5);
    tell(RELEASE_SHARED, memory.address, 0);
}
END_TEST

START_TEST(memory_that_cannot_be_exported_is_not_registered)
{
    answer_t memory = tell(ALLOCATE_POOLED, 0, 1);

    ck_assert_int_eq(memory.status, UCS_ERR_UNSUPPORTED);
}
END_TEST

START_TEST(an_access_outside_the_memory_is_rejected)
{
    answer_t memory = tell(ALLOCATE, 0, 1);
    char bytes[2]   = {0};
    done_t done;

    ck_assert_int_eq(start(&done, 0, &memory, LENGTH - 1, bytes, 2),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(start(&done, 1, &memory, (size_t)-1, bytes, 1),
                     UCS_ERR_INVALID_ADDR);
    /* the length in the key is a lie: see ipc_key.h */
    memory.key[32 + 3] = 1;
    ck_assert_int_eq(start(&done, 0, &memory, LENGTH - 1, bytes, 2),
                     UCS_ERR_INVALID_ADDR);
    memory.key[32 + 3] = 0;
    ck_assert_int_eq(last_byte(&memory), 1);
}
END_TEST

START_TEST(freed_memory_is_not_opened)
{
    answer_t memory = tell(ALLOCATE, 0, 1);
    char byte;
    done_t done;

    ck_ok(tell(RELEASE, memory.address, 0).status);
    ck_assert_int_eq(start(&done, 0, &memory, 0, &byte, 1),
                     UCS_ERR_INVALID_ADDR);
}
END_TEST

START_TEST(copies_end_although_the_owner_is_killed)
{
    answer_t memory = tell(ALLOCATE, 0, 7);
    answer_t other  = tell(ALLOCATE, 0, 8);
    done_t done;
    char byte = 0;
    int status;

    ck_assert_int_eq(last_byte(&memory), 7);
    emulated_hold();
    ck_assert_int_eq(start(&done, 0, &memory, 0, &byte, 1), UCS_INPROGRESS);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    child = 0;
    emulated_release();
    ck_ok(finish(&done));
    ck_assert_int_eq(byte, 7);
    ck_assert_int_eq(start(&done, 0, &other, 0, &byte, 1),
                     UCS_ERR_INVALID_ADDR);
}
END_TEST

/* The driver does not work in a child of a process that has started it: each
 * test runs in a process of its own, in which the driver is new. */
static int run_alone(const TTest *test)
{
    pid_t pid = fork();
    int status, failed;

    if (pid == 0) {
        Suite *suite = suite_create("cuda_ipc");
        TCase *tcase = tcase_create("cuda_ipc");
        SRunner *runner;

        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test);
        suite_add_tcase(suite, tcase);
        runner = srunner_create(suite);
        srunner_set_fork_status(runner, CK_NOFORK);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        exit((failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    return (waitpid(pid, &status, 0) == pid) && (status == 0);
}

int main(void)
{
    const TTest *const tests[] = {
        memory_is_opened_once_and_copied_directly,
        other_memory_at_the_same_address_is_opened_again,
        a_mapping_in_use_is_closed_after_its_copies,
        no_more_than_the_limit_stay_open,
        the_last_endpoint_closes_the_mappings_of_its_peer,
        virtual_memory_is_exported_and_opened_once,
        other_virtual_memory_at_the_same_address_is_opened_again,
        memory_of_a_pool_is_closed_before_its_owner_frees_it,
        memory_that_cannot_be_exported_is_not_registered,
        an_access_outside_the_memory_is_rejected,
        freed_memory_is_not_opened,
        copies_end_although_the_owner_is_killed
    };
    int good = 1;
    size_t i;

    for (i = 0; i < sizeof(tests) / sizeof(tests[0]); ++i) {
        good &= run_alone(tests[i]);
    }
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
