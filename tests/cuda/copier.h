/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture for tests of the copier. The copier is the transport of a UCX plugin
 * for devices (plugins/cuda, rocm or ze) that copies between host and device
 * memory. The fixture opens one interface of this transport. The devices are
 * those of an emulated driver (tests/emulated). */
#ifndef TEST_CUDA_COPIER_H
#define TEST_CUDA_COPIER_H

#include <check.h>
#include <uct/api/uct.h>

#include <device.h>

#define ck_ok(_call) ck_assert_int_eq((_call), UCS_OK)

/* Completion of one put or get. */
typedef struct {
    uct_completion_t comp;
    int calls; /* How often UCT has called the completion's function */
} done_t;

extern uct_worker_h worker;
extern uct_md_h md;
extern uct_iface_h iface;
extern uct_ep_h ep; /* Endpoint of `iface`, connected to `iface` itself */

void setup(void);
/* Closes what setup() has opened. Also checks that the emulated driver has
 * counted no mistake of its caller. */
void teardown(void);

/* Posts a put (is_put) from `data` to the device memory at `address`, or a get
 * in the other direction. Returns the status of the post; `done` is used only
 * if that is UCS_INPROGRESS. */
ucs_status_t start(done_t *done, int is_put, uint64_t address, void *data,
                   size_t length);
/* Progresses until the operation is complete; returns its status. */
ucs_status_t finish(done_t *done);
/* Posts a put or get and waits until it is complete. Fails the test if the
 * operation fails. */
void copy(int is_put, uint64_t address, void *data, size_t length);

/* Allocates memory of this type from `md`. The caller frees it with
 * uct_mem_free(). */
uct_allocated_memory_t allocate(size_t length, ucs_memory_type_t type);

/* `memory`: an allocation of 12 KiB of device memory. Checks that a query of a
 * part of it exports a dmabuf with the offset of the part. A part that reaches
 * beyond the end of the allocation must not be exported. */
void check_dmabuf(char *memory);

#endif
