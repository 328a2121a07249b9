/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers for objects that peers refer to. A number that is stale, or that a
 * broken peer made up, finds nothing instead of somebody else's memory: half
 * of it is the slot, half counts how often the slot was given out.
 */
#ifndef UCP_IDS_H
#define UCP_IDS_H

#include <stdint.h>
#include <ucs/type/status.h>

typedef struct ucp_id_table ucp_id_table_t;

ucp_id_table_t *ucp_id_table_create(void);
void ucp_id_table_destroy(ucp_id_table_t *table);

/** Stores a number that is never 0. */
ucs_status_t ucp_id_add(ucp_id_table_t *table, void *object, uint32_t *id_p);
void ucp_id_del(ucp_id_table_t *table, uint32_t id);

/** NULL: no such number. `id` is foreign. */
void *ucp_id_get(const ucp_id_table_t *table, uint64_t id);

#endif
