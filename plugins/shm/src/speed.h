/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast this processor copies memory, how fast the kernel copies between
 * processes, the latency of a cache line from memory, and the size of the
 * private cache. Speeds are measured once in a process, with memory of this
 * process: no peer is needed, and the kernel does the same work as for another
 * process.
 *
 * The memory is touched before, so that there are no page faults, and the
 * shortest of several tries counts, because other processes can only make a
 * copy slower.
 */
#ifndef SHM_SPEED_H
#define SHM_SPEED_H

#include <stddef.h>

typedef struct shm_speed {
    double memory; /* memcpy by one core, bytes per second */
    double kernel; /* process_vm_readv without the overhead of the call, bytes
                    * per second */
} shm_speed_t;

/* Returns the measured speeds. Members are 0 if they cannot be measured. The
 * first call takes about a fifth of a millisecond. Any thread may call it. */
const shm_speed_t *shm_speed(void);

/* Returns the seconds of a system call that copies a few bytes of a process; 0
 * if the kernel denies it. The first call takes about 20 us. Any thread may
 * call it. */
double shm_speed_call(void);

/* Returns the latency in seconds of a line that no cache contains; 0 if it
 * cannot be measured. The first call takes about 30 us. Any thread may call
 * it. */
double shm_speed_line(void);

/* Rounds a time in seconds to a scale with steps of 2^(1/8), so that different
 * processes usually get the same value. */
double shm_speed_rounded(double seconds);

/* Returns the bytes of the second-level cache, which a core usually does not
 * share; 0 if the size is unknown. Any thread may call it. */
size_t shm_private_cache(void);

#endif
