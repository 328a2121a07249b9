/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast this processor copies memory, and how fast the kernel copies between
 * processes. Measured once in a process, with memory of this process: no peer
 * is needed, and the kernel does the same work as for another process.
 *
 * The memory is touched before, and the shortest of several copies counts: page
 * faults and other processes make a copy slower, nothing makes it faster.
 */
#ifndef SHM_SPEED_H
#define SHM_SPEED_H

typedef struct shm_speed {
    double memory;   /* memcpy by one core, bytes per second */
    double kernel;   /* process_vm_readv without the overhead of the call, bytes
                      * per second */
} shm_speed_t;

/* Members are 0 if they cannot be measured. The first call takes about a tenth
 * of a millisecond. Any thread may call it. */
const shm_speed_t *shm_speed(void);

#endif
