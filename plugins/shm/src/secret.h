/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A token identifies a segment. It consists of a random number, the secret, and
 * the id of the segment's space: the shm_space_t (segment.h) of the memory
 * domain that has created it. All inboxes of a worker use the same secret,
 * so that the worker's address, which contains several tokens, can be
 * compressed.
 *
 * A process that has the address of one inbox therefore knows the secret of all
 * inboxes of that worker. Inboxes of other workers have another secret, even in
 * the same process. The id of a space is public: names of sockets contain it.
 * The ids of up to 256 spaces of a process differ in their first byte only.
 */
#ifndef SHM_SECRET_H
#define SHM_SECRET_H

#include <stdint.h>
#include <ucs/type/status.h>

/* Member of an object that uses the secret of a worker. */
typedef struct shm_secret {
    const void *worker;
    uint64_t value;           /* 0: the system returned no random number */
    struct shm_secret *next;  /* Next in the list of all objects of the
                               * process */
    struct shm_secret **link; /* The pointer to this object in that list */
} shm_secret_t;

/* Sets the value: that of another object of the same worker, or a new one. The
 * object must not move until shm_secret_put(). Any thread may call it. */
void shm_secret_get(shm_secret_t *secret, const void *worker);

/* Removes the object from the list. May also be called in a forked child, for
 * an object that the parent has created. */
void shm_secret_put(shm_secret_t *secret);

/* Stores the id of a new space in `id`. Returns UCS_ERR_IO_ERROR if the system
 * returns no random number. */
ucs_status_t shm_space_new_id(uint8_t id[4]);

#endif
