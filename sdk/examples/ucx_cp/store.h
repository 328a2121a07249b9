/* SPDX-License-Identifier: BSD-3-Clause */
/* The file that a receiver writes: it has a temporary name until it is
 * complete, and is then renamed in one step. */
#ifndef UCX_CP_STORE_H
#define UCX_CP_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store {
    int dir;
    int file;
    char temporary[64]; /* "" if there is no temporary file */
    char reason[300];   /* why the last call failed */
};

/* Each returns 0, or -1 with the reason in store->reason. */
int store_open_dir(struct store *store, const char *path);
int store_begin(struct store *store, const char *name, uint64_t size,
                bool replace);
int store_write(struct store *store, const void *data, size_t length,
                uint64_t offset);
int store_commit(struct store *store, const char *name, uint32_t mode,
                 bool replace, bool sync);

/* Removes an uncommitted file and closes everything. */
void store_close(struct store *store);

#endif
