/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of the copier, which is the transport of a device's plugin that
 * copies between host and device memory: an open interface of it. */
#ifndef TEST_CUDA_COPIER_H
#define TEST_CUDA_COPIER_H

#include <check.h>
#include <uct/api/uct.h>

#include <device.h>

#define ck_ok(_call) ck_assert_int_eq((_call), UCS_OK)

typedef struct {
    uct_completion_t comp;
    int calls;
} done_t;

extern uct_worker_h worker;
extern uct_md_h md;
extern uct_iface_h iface;
extern uct_ep_h ep;

void setup(void);
/* Also checks that the driver has reported no mistake of its caller. */
void teardown(void);

/* Posts a put or get of one buffer. */
ucs_status_t start(done_t *done, int is_put, uint64_t address, void *data,
                   size_t length);
/* Waits for the operation; returns its status. */
ucs_status_t finish(done_t *done);
/* Starts a put or get, and waits for it; it must succeed. */
void copy(int is_put, uint64_t address, void *data, size_t length);

uct_allocated_memory_t allocate(size_t length, ucs_memory_type_t type);

/* Checks that a part of an allocation of 12 KiB is exported as a dmabuf with an
 * offset, and that a part that reaches beyond its end is not. */
void check_dmabuf(char *memory);

#endif
