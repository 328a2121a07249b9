/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables and transports that only other implementations of UCX have, and why
 * they have no effect here. foreign.py generates the entries of this table from
 * foreign.txt; only foreign.c uses the table. */
#ifndef UCS_CONFIG_FOREIGN_H
#define UCS_CONFIG_FOREIGN_H

typedef enum {
    CONFIG_FOREIGN_VARIABLE,  /* without UCX_; may end in * */
    CONFIG_FOREIGN_TRANSPORT, /* a word of a transport list */
} config_foreign_kind_t;

typedef struct {
    config_foreign_kind_t kind;
    const char *name;
    const char *reason; /* of a variable: why it has no effect here; of a
                         * transport: what the word means */
} config_foreign_t;

/* The last entry has the name NULL. */
extern const config_foreign_t config_foreign[]
    __attribute__((visibility("hidden")));

#endif
