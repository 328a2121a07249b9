/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the tests of cma with failing and malicious peers share. */
#ifndef SHM_TEST_CMA_FAULT_H
#define SHM_TEST_CMA_FAULT_H

#include <check.h>

/* Bytes of memory that a side offers. */
#define WINDOW (16ul << 20)

/* Body of a child process: offers memory filled with 0x11 and helps until it is
 * stopped or killed. `arg`: more configuration, or NULL. */
void cma_fault_serve(void *arg, int fd);

void cma_fault_pause(unsigned us);

/* Runs body in a process whose standard error must stay empty. */
void cma_fault_run_quietly(void (*body)(void *arg, int fd));

/* Runs the tests, each in a process. Returns an exit status. */
int cma_fault_run(const char *name, const TTest *const *tests,
                  unsigned num_tests);

#endif
