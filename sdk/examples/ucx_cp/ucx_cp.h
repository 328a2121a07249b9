/* SPDX-License-Identifier: BSD-3-Clause */
/* The two commands of the program ucx_cp, which copies a file from a sender to
 * a receiver, and their options. */
#ifndef UCX_CP_H
#define UCX_CP_H

#include <stdbool.h>
#include <stdint.h>

struct cp_options {
    const char *path;   /* send: the file; receive: the directory */
    const char *host;   /* send: the receiver; receive: where to listen. NULL:
                         * the loopback */
    const char *output; /* receive: the name to store under, or NULL */
    uint16_t port;
    uint32_t chunk; /* send: bytes of a chunk, which is one message */
    bool replace;   /* receive: replace an existing file */
    bool sync;      /* receive: write the file to the disk before reporting
                     * success */
    bool quiet;     /* no progress bar */
};

enum { CP_WINDOW = 8 }; /* Number of chunks in flight, on either side */

/* Each returns 0, or -1 after printing an error to stderr. */
int cp_send(const struct cp_options *options);
int cp_receive(const struct cp_options *options);

/* Prints a line such as "sent name: 1.00 GiB in 0.510 s, 1.96 GiB/s, xxh64 ..."
 * on stdout; it begins with `what`. */
void cp_report(const char *what, const char *name, uint64_t size,
               double seconds, uint64_t hash);

#endif
