/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An asymmetric fence. Sleeping without losing a wake-up usually needs a full
 * fence on both sides:
 *
 *   sender:   write message; fence; read "asleep"
 *   receiver: write "asleep"; fence; read messages
 *
 * Messages are frequent, sleeps are rare. Therefore the receiver calls
 * membarrier(), which executes a fence on all processors that run a registered
 * process. The sender then needs no fence: it only has to prevent the compiler
 * from reordering.
 */
#ifndef SHM_FENCE_H
#define SHM_FENCE_H

/* Registers this process, so that shm_fence_all() of other processes covers it.
 * Returns zero if the threads of this process must execute fences of their own.
 * Calling it again is harmless. */
int shm_fence_register(void);

/* Returns non-zero if shm_fence_all() works here. */
int shm_fence_is_global(void);

/* Executes a full fence for this thread and for all threads of registered
 * processes. */
void shm_fence_all(void);

#endif
