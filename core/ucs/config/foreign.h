/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of variables and transports that other implementations of UCX have, but
 * this one does not. foreign.py generates the table from foreign.txt; only
 * foreign.c uses the table. */
#ifndef UCS_CONFIG_FOREIGN_H
#define UCS_CONFIG_FOREIGN_H

typedef enum {
    CONFIG_FOREIGN_VARIABLE,  /* the name is without UCX_; a * at its end stands
                               * for any characters */
    CONFIG_FOREIGN_TRANSPORT, /* the name is a word of a transport list */
} config_foreign_kind_t;

typedef struct {
    config_foreign_kind_t kind;
    const char *name;
    const char *reason; /* of a variable: why it has no effect here; of a
                         * transport: what the word means */
} config_foreign_t;

/* Terminated by an entry whose name is NULL. */
extern const config_foreign_t config_foreign[]
    __attribute__((visibility("hidden")));

#endif
