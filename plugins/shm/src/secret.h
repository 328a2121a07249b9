/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The random part of tokens (segment.h). All inboxes of a worker use the same
 * number, so that the worker's address, which contains several tokens, can be
 * compressed.
 *
 * A process that has the address of one inbox therefore has the number of all
 * inboxes of that worker. Inboxes of other workers have another secret, even in
 * the same process. The other part of a token, the id of the space, is public:
 * names of sockets contain it. The ids of a process's spaces differ in their
 * first byte.
 */
#ifndef SHM_SECRET_H
#define SHM_SECRET_H

#include <stdint.h>
#include <ucs/type/status.h>

/* Member of an object that uses the secret of a worker. */
typedef struct shm_secret {
    const void *worker;
    uint64_t value; /* 0: the system returned no random number */
    struct shm_secret *next;
    struct shm_secret **link;
} shm_secret_t;

/* Sets the value: that of another object of the same worker, or a new one. The
 * object must not move until shm_secret_put(). Any thread may call it, but only
 * one at a time for the objects of one worker. */
void shm_secret_get(shm_secret_t *secret, const void *worker);

/* May be called in a forked child, for an object of the parent. */
void shm_secret_put(shm_secret_t *secret);

/* Sets the id of a new space. UCS_ERR_IO_ERROR: no random numbers. */
ucs_status_t shm_space_new_id(uint8_t id[4]);

#endif
