/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fence for two. The usual way to sleep without losing a wake-up wants a full
 * fence on both sides:
 *
 *     sender:    write message;   fence;  read "is he asleep?"
 *     receiver:  write "asleep";  fence;  read messages
 *
 * Messages are many, sleeps are few. With membarrier the receiver makes all
 * processors that run a registered process fence, and the sender needs only to
 * keep the compiler from changing the order.
 */
#ifndef SHM_FENCE_H
#define SHM_FENCE_H

/* Registers this process as one of those that others may fence. Non-zero: done;
 * else it has to fence for itself. Once is enough, again does no harm. */
int shm_fence_register(void);

/* Non-zero: shm_fence_all works here. */
int shm_fence_is_global(void);

/* A full fence for this thread and for all threads of registered processes. */
void shm_fence_all(void);

#endif
