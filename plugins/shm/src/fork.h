/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors that a forked child must close at once. In the child they would
 * keep locks of the parent held, or its socket open, after the parent has
 * exited, and other processes would take the parent for a live process.
 */
#ifndef SHM_FORK_H
#define SHM_FORK_H

typedef struct shm_fork_item shm_fork_item_t;

struct shm_fork_item {
    /* Runs in the child, on its only thread: closes the descriptors, and marks
     * the object as not owned. Allocates nothing, takes no lock. */
    void (*child)(shm_fork_item_t *item);
    shm_fork_item_t *next;
    shm_fork_item_t **link; /* The pointer to this item; NULL: not in the
                             * list */
};

void shm_fork_add(shm_fork_item_t *item, void (*child)(shm_fork_item_t *item));
void shm_fork_remove(shm_fork_item_t *item);

#endif
