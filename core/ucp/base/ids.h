/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ids for objects that peers refer to. One part of an id is the number of a
 * slot in a table; the other part counts the uses of the slot, modulo 4096. So
 * a stale id is very unlikely to refer to another object. An id that a faulty
 * peer invents may refer to any object.
 */
#ifndef UCP_IDS_H
#define UCP_IDS_H

#include <stdint.h>
#include <ucs/type/status.h>

typedef struct ucp_id_table ucp_id_table_t;

ucp_id_table_t *ucp_id_table_create(void);
void ucp_id_table_destroy(ucp_id_table_t *table);

/** Adds an object and stores its id, which is never 0. */
ucs_status_t ucp_id_add(ucp_id_table_t *table, void *object, uint32_t *id_p);
void ucp_id_del(ucp_id_table_t *table, uint32_t id);

/** Returns the object, or NULL if the id is not in use. `id` may have any
 *  value, because it may come from a peer. */
void *ucp_id_get(const ucp_id_table_t *table, uint64_t id);

#endif
