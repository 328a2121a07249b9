/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages from and to memory of a device, contiguous, of 0 bytes to 4 MiB, with
 * every byte verified: the processor cannot access the memory, so that the
 * library must detect it. The driver is found at run time, and may be that of
 * tests/emulated.
 */
#include "client.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 4 << 20, GUARD = 64, SIZE = LARGEST + GUARD, BLOCK = 16 };

typedef unsigned long long device_ptr_t;

/* The functions of the driver that are used. */
static struct {
    int (*init)(unsigned);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*set_current)(void *context);
    int (*alloc)(device_ptr_t *address, size_t size);
    int (*free)(device_ptr_t address);
    int (*to_device)(device_ptr_t to, const void *from, size_t size);
    int (*to_host)(void *to, device_ptr_t from, size_t size);
} driver;

static const struct {
    const char *name;
    void       *slot;
} symbols[] = {
    {"cuInit", &driver.init},
    {"cuDevicePrimaryCtxRetain", &driver.retain},
    {"cuDevicePrimaryCtxRelease_v2", &driver.release},
    {"cuCtxSetCurrent", &driver.set_current},
    {"cuMemAlloc_v2", &driver.alloc},
    {"cuMemFree_v2", &driver.free},
    {"cuMemcpyHtoD_v2", &driver.to_device},
    {"cuMemcpyDtoH_v2", &driver.to_host}
};

/* A buffer of either kind, and host memory for its content. */
typedef struct {
    int   is_device;
    void  *address;
    char  *content;
} buffer_t;

static void load_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    size_t i;

    CHECK(library != NULL);
    for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); ++i) {
        void *call = dlsym(library, symbols[i].name);

        CHECK(call != NULL);
        memcpy(symbols[i].slot, &call, sizeof(call));
    }
}

static buffer_t make(int is_device)
{
    buffer_t buffer      = {.is_device = is_device};
    device_ptr_t address = 0;

    buffer.content = client_alloc(SIZE);
    if (is_device) {
        CHECK_EQ(driver.alloc(&address, SIZE), 0);
        memcpy(&buffer.address, &address, sizeof(buffer.address));
    } else {
        buffer.address = client_alloc(SIZE);
    }
    return buffer;
}

static void drop(buffer_t *buffer)
{
    if (buffer->is_device) {
        CHECK_EQ(driver.free((uintptr_t)buffer->address), 0);
    } else {
        free(buffer->address);
    }
    free(buffer->content);
}

/* Copies the content into the buffer, or back. */
static void write_buffer(const buffer_t *buffer, size_t size)
{
    if (buffer->is_device) {
        CHECK_EQ(driver.to_device((uintptr_t)buffer->address, buffer->content,
                                  size), 0);
    } else {
        memcpy(buffer->address, buffer->content, size);
    }
}

static void read_buffer(const buffer_t *buffer, size_t size)
{
    if (buffer->is_device) {
        CHECK_EQ(driver.to_host(buffer->content, (uintptr_t)buffer->address,
                                size), 0);
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

/* From rank 0 to rank 1. */
static void one_way(buffer_t *out, buffer_t *in, size_t size, unsigned seed)
{
    if (client_rank == 0) {
        client_fill(out->content, size, seed);
        write_buffer(out, size);
        MPI_Send(out->address, (int)size, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
    } else {
        prepare(in);
        MPI_Recv(in->address, (int)size + GUARD, MPI_BYTE, 0, 5,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        verify(in, size, seed);
    }
}

/* Both send and receive at once, elements of a contiguous datatype. */
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
    MPI_Irecv(in->address, count, block, peer, 6, MPI_COMM_WORLD,
              &requests[0]);
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
    void *context;
    size_t size;

    load_driver();
    CHECK_EQ(driver.init(0), 0);
    CHECK_EQ(driver.retain(&context, 0), 0);
    CHECK_EQ(driver.set_current(context), 0);
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
    CHECK_EQ(driver.set_current(NULL), 0);
    CHECK_EQ(driver.release(0), 0);
    return from;
}
