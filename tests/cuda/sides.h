/* SPDX-License-Identifier: BSD-3-Clause */
/* Two connected UCP workers of this process, and counts of the calls of the
 * emulated driver (tests/emulated). A "side" is one of the two workers with its
 * buffers. The variable UCX_TLS, which meson.build sets, selects the transports
 * between the workers. */
#ifndef TEST_CUDA_SIDES_H
#define TEST_CUDA_SIDES_H

#include <check.h>
#include <ucp/api/ucp.h>

#include <device.h>

#define ck_ok(_call) ck_assert_int_eq((_call), UCS_OK)

enum { SIDE_LENGTH = 8 }; /* Bytes of a side's host buffer */

typedef struct {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep;            /* To the other side; a test that has closed the
                             * endpoint sets this to NULL */
    void *device;           /* Device memory that sides_open() has allocated */
    char host[SIDE_LENGTH]; /* Host memory */
} side_t;

extern side_t sides[2];

/* Opens both sides; each allocates `length` bytes of device memory. */
void sides_open(size_t length);
/* Closes both sides. Also checks that the emulated driver has counted no
 * mistake of its caller. */
void sides_close(void);

/* Allocate and free device memory. */
void *sides_allocate(size_t length);
void sides_free(void *address);

/* Progresses both workers once. */
void progress(void);
/* Progresses both workers until the request is complete. Frees the request;
 * returns its status. */
ucs_status_t result_of(ucs_status_ptr_t request);
/* Calls result_of(), and fails the test unless the status is UCS_OK. */
void finish(ucs_status_ptr_t request);

/* Number of calls of the driver so far, and the number of those that create,
 * open, release or register a resource. count_all() omits the calls that check
 * the state of a queue. */
unsigned long count_all(void);
unsigned long count_costly(void);

#endif
