/* SPDX-License-Identifier: BSD-3-Clause */
/* Two connected workers of this process, and counts of the driver's calls.
 * UCX_TLS selects the transports between them. */
#ifndef TEST_CUDA_SIDES_H
#define TEST_CUDA_SIDES_H

#include <check.h>
#include <ucp/api/ucp.h>

#include <device.h>

#define ck_ok(_call) ck_assert_int_eq((_call), UCS_OK)

enum { SIDE_LENGTH = 8 };

typedef struct {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep;  /* To the other side; NULL: the test has closed it */
    void *device; /* Device memory */
    char host[SIDE_LENGTH];
} side_t;

extern side_t sides[2];

/* Opens both sides; each allocates `length` bytes of device memory. */
void sides_open(size_t length);
/* Also checks that the driver has reported no mistake of its caller. */
void sides_close(void);

void *sides_allocate(size_t length);
void sides_free(void *address);

void progress(void);
/* Progresses both sides until a request is complete; returns its status. */
ucs_status_t result_of(ucs_status_ptr_t request);
/* Waits for a request, which must succeed. */
void finish(ucs_status_ptr_t request);

/* Numbers of calls of the driver so far. count_costly(): only calls that
 * create, open or release something. */
unsigned long count_all(void);
unsigned long count_costly(void);

#endif
