/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the tests of cma with failing and malicious peers share. */
#ifndef SHM_TEST_CMA_FAULT_H
#define SHM_TEST_CMA_FAULT_H

/* Bytes of memory of each side (cma_side.h) that its peer may access. */
#define WINDOW (16ul << 20)

/* Body of a child process, for child_start(): a side whose memory is filled
 * with 0x11. Exchanges addresses and keys (cma_side_meet()) over fd, then
 * progresses until a byte arrives on fd. `arg`: more configuration
 * (",NAME=VALUE..."), or NULL. */
void cma_fault_serve(void *arg, int fd);

void cma_fault_pause(unsigned us);

/* Runs body() in a child process. Fails the test if the child fails or writes
 * to standard error. */
void cma_fault_run_quietly(void (*body)(void *arg, int fd));

#endif
