/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast this processor copies memory, how fast the kernel copies between
 * processes, and how long a line from memory takes. Measured once in a process,
 * with memory of this process: no peer is needed, and the kernel does the same
 * work as for another process.
 *
 * The memory is touched before, and the shortest of several tries counts: page
 * faults and other processes make a copy slower, nothing makes it faster.
 */
#ifndef SHM_SPEED_H
#define SHM_SPEED_H

typedef struct shm_speed {
    double memory; /* memcpy by one core, bytes per second */
    double kernel; /* process_vm_readv without the overhead of the call, bytes
                      * per second */
    double line;   /* Latency of a line that no cache contains, seconds */
    double lines;  /* Number of such lines that one core reads at a time */
} shm_speed_t;

/* Members are 0 if they cannot be measured. The first call takes about a fifth
 * of a millisecond. Any thread may call it. */
const shm_speed_t *shm_speed(void);

/* Seconds of a call of the kernel that copies a few bytes of a process; 0: the
 * kernel denies it. In steps of a quarter of a power of two, so that processes
 * agree. The first call takes about 20 us, at the start of a process. Any thread
 * may call it. */
double shm_speed_call(void);

#endif
