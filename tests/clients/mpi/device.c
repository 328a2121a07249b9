/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of 0 bytes to 4 MiB from and to memory of a device, contiguous, with
 * every byte verified. The processor cannot access this memory, so that the
 * library must detect its type. CLIENT_DEVICE selects the driver: CUDA's, with
 * `rocm` HIP's, with `ze` that of Level Zero. The driver is loaded at run time,
 * and may be an emulated one (tests/emulated).
 */
#include "client.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<level_zero/ze_api.h>)
#include <level_zero/ze_api.h>
#define HAVE_ZE 1
#else
#define HAVE_ZE 0
#endif

enum { LARGEST = 4 << 20, GUARD = 64, SIZE = LARGEST + GUARD, BLOCK = 16 };

/* The functions of a driver that this program uses */
typedef struct {
    void (*start)(void);
    void (*finish)(void);
    void *(*alloc)(size_t size);
    void (*free)(void *address);
    void (*to_device)(void *to, const void *from, size_t size);
    void (*to_host)(void *to, const void *from, size_t size);
} driver_t;

/* A buffer of device memory or host memory, and host memory in which the test
 * prepares or verifies its content. */
typedef struct {
    int is_device;
    void *address;
    char *content;
} buffer_t;

static driver_t driver;

/* Loads a library and returns the address of one of its functions; ends the job
 * if that fails. */
static void *find(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_NOW);
    void *call;

    CHECK(handle != NULL);
    call = dlsym(handle, name);
    CHECK(call != NULL);
    return call;
}

/* ------------------------------------------------------------------ CUDA -- */

typedef unsigned long long device_ptr_t;

static struct {
    int (*init)(unsigned);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*set_current)(void *context);
    int (*alloc)(device_ptr_t *address, size_t size);
    int (*free)(device_ptr_t address);
    int (*to_device)(device_ptr_t to, const void *from, size_t size);
    int (*to_host)(void *to, device_ptr_t from, size_t size);
} cuda;

static const struct {
    const char *name;
    void *slot;
} cuda_symbols[] = {
    {"cuInit", &cuda.init},
    {"cuDevicePrimaryCtxRetain", &cuda.retain},
    {"cuDevicePrimaryCtxRelease_v2", &cuda.release},
    {"cuCtxSetCurrent", &cuda.set_current},
    {"cuMemAlloc_v2", &cuda.alloc},
    {"cuMemFree_v2", &cuda.free},
    {"cuMemcpyHtoD_v2", &cuda.to_device},
    {"cuMemcpyDtoH_v2", &cuda.to_host},
};

static void cuda_start(void)
{
    void *context;
    size_t i;

    for (i = 0; i < sizeof(cuda_symbols) / sizeof(cuda_symbols[0]); ++i) {
        void *call = find("libcuda.so.1", cuda_symbols[i].name);

        memcpy(cuda_symbols[i].slot, &call, sizeof(call));
    }
    CHECK_EQ(cuda.init(0), 0);
    CHECK_EQ(cuda.retain(&context, 0), 0);
    CHECK_EQ(cuda.set_current(context), 0);
}

static void cuda_finish(void)
{
    CHECK_EQ(cuda.set_current(NULL), 0);
    CHECK_EQ(cuda.release(0), 0);
}

static void *cuda_alloc(size_t size)
{
    device_ptr_t address = 0;

    CHECK_EQ(cuda.alloc(&address, size), 0);
    return (void *)(uintptr_t)address;
}

static void cuda_free(void *address)
{
    CHECK_EQ(cuda.free((uintptr_t)address), 0);
}

static void cuda_to_device(void *to, const void *from, size_t size)
{
    CHECK_EQ(cuda.to_device((uintptr_t)to, from, size), 0);
}

static void cuda_to_host(void *to, const void *from, size_t size)
{
    CHECK_EQ(cuda.to_host(to, (uintptr_t)from, size), 0);
}

/* ------------------------------------------------------------------- HIP -- */

enum { HIP_COPY_ANY = 4 };

static struct {
    int (*alloc)(void **address, size_t size);
    int (*free)(void *address);
    int (*copy)(void *to, const void *from, size_t size, int kind);
} hip;

static void hip_start(void)
{
    const char *library = "libamdhip64.so.5";

    *(void **)&hip.alloc = find(library, "hipMalloc");
    *(void **)&hip.free  = find(library, "hipFree");
    *(void **)&hip.copy  = find(library, "hipMemcpy");
}

static void hip_finish(void)
{
}

static void *hip_alloc(size_t size)
{
    void *address = NULL;

    CHECK_EQ(hip.alloc(&address, size), 0);
    return address;
}

static void hip_free(void *address)
{
    CHECK_EQ(hip.free(address), 0);
}

static void hip_copy(void *to, const void *from, size_t size)
{
    CHECK_EQ(hip.copy(to, from, size, HIP_COPY_ANY), 0);
}

/* ------------------------------------------------------------ Level Zero -- */

#if HAVE_ZE

/* Calls a function of the Level Zero loader, which must succeed. */
#define ZE(_name, ...) \
    CHECK_EQ((int)((__typeof__(&_name))find("libze_loader.so.1", #_name))( \
                 __VA_ARGS__), \
             0)

static ze_context_handle_t ze_context;
static ze_device_handle_t ze_device;
/* A command is complete when the call that appends it returns */
static ze_command_list_handle_t ze_list;
/* Host memory that devices can access, for copies */
static void *ze_staging;

static void ze_start(void)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t queue = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
        .mode  = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
    };
    const ze_host_mem_alloc_desc_t host = {
        .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
    };
    ze_driver_handle_t handle;
    uint32_t count = 1;

    ZE(zeInit, 0);
    ZE(zeDriverGet, &count, &handle);
    count = 1;
    ZE(zeDeviceGet, handle, &count, &ze_device);
    ZE(zeContextCreate, handle, &desc, &ze_context);
    ZE(zeCommandListCreateImmediate, ze_context, ze_device, &queue, &ze_list);
    ZE(zeMemAllocHost, ze_context, &host, SIZE, 0, &ze_staging);
}

static void ze_finish(void)
{
    ZE(zeMemFree, ze_context, ze_staging);
    ZE(zeCommandListDestroy, ze_list);
    ZE(zeContextDestroy, ze_context);
}

static void *ze_alloc(size_t size)
{
    const ze_device_mem_alloc_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
    };
    void *address;

    ZE(zeMemAllocDevice, ze_context, &desc, size, 0, ze_device, &address);
    return address;
}

static void ze_free(void *address)
{
    ZE(zeMemFree, ze_context, address);
}

static void ze_to_device(void *to, const void *from, size_t size)
{
    memcpy(ze_staging, from, size);
    ZE(zeCommandListAppendMemoryCopy, ze_list, to, ze_staging, size, NULL, 0,
       NULL);
}

static void ze_to_host(void *to, const void *from, size_t size)
{
    ZE(zeCommandListAppendMemoryCopy, ze_list, ze_staging, from, size, NULL, 0,
       NULL);
    memcpy(to, ze_staging, size);
}

#endif

static void choose_driver(void)
{
    const char *name = getenv("CLIENT_DEVICE");

    driver = (driver_t){cuda_start, cuda_finish,    cuda_alloc,
                        cuda_free,  cuda_to_device, cuda_to_host};
    if ((name != NULL) && (strcmp(name, "rocm") == 0)) {
        driver = (driver_t){hip_start, hip_finish, hip_alloc,
                            hip_free,  hip_copy,   hip_copy};
    }
#if HAVE_ZE
    if ((name != NULL) && (strcmp(name, "ze") == 0)) {
        driver = (driver_t){ze_start, ze_finish,    ze_alloc,
                            ze_free,  ze_to_device, ze_to_host};
    }
#else
    CHECK((name == NULL) || (strcmp(name, "ze") != 0));
#endif
}

/* --------------------------------------------------------------- buffers -- */

static buffer_t make(int is_device)
{
    return (buffer_t){
        .is_device = is_device,
        .content   = client_alloc(SIZE),
        .address   = is_device ? driver.alloc(SIZE) : client_alloc(SIZE),
    };
}

static void drop(buffer_t *buffer)
{
    if (buffer->is_device) {
        driver.free(buffer->address);
    } else {
        free(buffer->address);
    }
    free(buffer->content);
}

/* write_buffer() copies the first `size` bytes of the content into the buffer,
 * read_buffer() copies them back. */
static void write_buffer(const buffer_t *buffer, size_t size)
{
    if (buffer->is_device) {
        driver.to_device(buffer->address, buffer->content, size);
    } else {
        memcpy(buffer->address, buffer->content, size);
    }
}

static void read_buffer(const buffer_t *buffer, size_t size)
{
    if (buffer->is_device) {
        driver.to_host(buffer->content, buffer->address, size);
    } else {
        memcpy(buffer->content, buffer->address, size);
    }
}

static void prepare(buffer_t *in)
{
    memset(in->content, 0xaa, SIZE);
    write_buffer(in, SIZE);
}

static void verify(buffer_t *in, size_t size, unsigned seed)
{
    read_buffer(in, size + GUARD);
    client_check(in->content, size, seed);
    client_check_untouched(in->content + size, GUARD, 0xaa);
}

/* Rank 0 sends `size` bytes to rank 1. */
static void one_way(buffer_t *out, buffer_t *in, size_t size, unsigned seed)
{
    if (client_rank == 0) {
        client_fill(out->content, size, seed);
        write_buffer(out, size);
        MPI_Send(out->address, (int)size, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
    } else {
        prepare(in);
        MPI_Recv(in->address, (int)size + GUARD, MPI_BYTE, 0, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        verify(in, size, seed);
    }
}

/* Both ranks send and receive at once; the data are elements of a contiguous
 * datatype. */
static void exchange(buffer_t *out, buffer_t *in, size_t size, unsigned seed)
{
    int peer  = 1 - client_rank;
    int count = (int)(size / BLOCK);
    MPI_Request requests[2];
    MPI_Datatype block;

    MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
    MPI_Type_commit(&block);
    prepare(in);
    client_fill(out->content, size, seed + client_rank);
    write_buffer(out, size);
    MPI_Irecv(in->address, count, block, peer, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out->address, count, block, peer, 6, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    verify(in, (size_t)count * BLOCK, seed + peer);
    MPI_Type_free(&block);
}

int main(int argc, char **argv)
{
    int from, to, number;
    buffer_t out[2], in[2];
    size_t size;

    choose_driver();
    driver.start();
    client_start(&argc, &argv, MPI_THREAD_SINGLE);
    for (from = 0; from < 2; ++from) {
        out[from] = make(from);
        in[from]  = make(from);
    }

    number = 0;
    for (from = 0; from < 2; ++from) {
        for (to = 0; to < 2; ++to) {
            one_way(&out[from], &in[to], 0, 0);
            for (size = 1; size <= LARGEST; size *= 4) {
                one_way(&out[from], &in[to], size, ++number);
            }
            one_way(&out[from], &in[to], 1000003, ++number);
        }
    }
    for (size = BLOCK; size <= LARGEST; size *= 16) {
        exchange(&out[1], &in[1], size, ++number);
    }

    for (from = 0; from < 2; ++from) {
        drop(&out[from]);
        drop(&in[from]);
    }
    from = client_end("messages of device memory");
    driver.finish();
    return from;
}
