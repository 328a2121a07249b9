/* SPDX-License-Identifier: BSD-3-Clause */
/* The file that a receiver writes: it has a temporary name until it is
 * complete, and is then renamed in one step. */
#ifndef UCX_CP_STORE_H
#define UCX_CP_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store {
    int dir;            /* Descriptor of the directory; -1: not open */
    int file;           /* Descriptor of the temporary file; -1: not open */
    char temporary[64]; /* Name of the temporary file; "" if there is none */
    char reason[300];   /* Why the last call has failed */
};

/* The following functions return 0, or -1 with the reason in store->reason. */
int store_open_dir(struct store *store, const char *path);
/* Creates the temporary file and reserves `size` bytes for it. Fails if a file
 * `name` exists and `replace` is false. */
int store_begin(struct store *store, const char *name, uint64_t size,
                bool replace);
int store_write(struct store *store, const void *data, size_t length,
                uint64_t offset);
/* Sets the permissions `mode`, less the umask, and renames the temporary file
 * to `name`. With `sync`, the file is on the disk when this returns. */
int store_commit(struct store *store, const char *name, uint32_t mode,
                 bool replace, bool sync);

/* Removes an uncommitted file and closes everything. */
void store_close(struct store *store);

#endif
