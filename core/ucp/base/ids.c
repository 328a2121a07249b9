/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of objects by the ids that peers use (ids.h). Slots are in one
 * growing array; free slots form a list.
 *
 *   id:  | 31 ... 20 generation | 19 ... 0 slot + 1 |
 */
#include "ucp/base/ids.h"

#include <stdlib.h>

enum {
    SLOT_BITS  = 20,
    SLOT_MASK  = (1 << SLOT_BITS) - 1,
    GENERATION = 1 << (32 - SLOT_BITS),
};

typedef struct {
    void *object;       /* NULL if the slot is free */
    uint32_t next_free; /* slot + 1; 0: end of the list */
    uint32_t generation;
} slot_t;

struct ucp_id_table {
    slot_t *slots;
    uint32_t num_slots;
    uint32_t first_free; /* slot + 1; 0: no slot is free */
    /* slot + 1 of the last free slot, if a slot is free. Released slots are
     * appended behind it and reused last, so that an id is in use again only
     * after a long time */
    uint32_t last_free;
};

ucp_id_table_t *ucp_id_table_create(void)
{
    return calloc(1, sizeof(ucp_id_table_t));
}

void ucp_id_table_destroy(ucp_id_table_t *table)
{
    if (table != NULL) {
        free(table->slots);
        free(table);
    }
}

static void append_free(ucp_id_table_t *table, uint32_t number)
{
    table->slots[number - 1].next_free = 0;
    if (table->first_free == 0) {
        table->first_free = number;
    } else {
        table->slots[table->last_free - 1].next_free = number;
    }
    table->last_free = number;
}

static ucs_status_t grow(ucp_id_table_t *table)
{
    uint32_t old = table->num_slots;
    uint32_t num = (old == 0) ? 32 : old * 2;
    slot_t *slots;

    if (num > SLOT_MASK) {
        num = SLOT_MASK;
    }
    if (num == old) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }

    slots = realloc(table->slots, num * sizeof(*slots));
    if (slots == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    table->slots     = slots;
    table->num_slots = num;
    for (; old < num; ++old) {
        slots[old].object     = NULL;
        slots[old].generation = 0;
        append_free(table, old + 1);
    }
    return UCS_OK;
}

ucs_status_t ucp_id_add(ucp_id_table_t *table, void *object, uint32_t *id_p)
{
    ucs_status_t status;
    slot_t *slot;
    uint32_t number;

    if (table->first_free == 0) {
        status = grow(table);
        if (status != UCS_OK) {
            return status;
        }
    }

    number            = table->first_free;
    slot              = &table->slots[number - 1];
    table->first_free = slot->next_free;
    slot->object      = object;
    *id_p             = (slot->generation << SLOT_BITS) | number;
    return UCS_OK;
}

void *ucp_id_get(const ucp_id_table_t *table, uint64_t id)
{
    uint32_t number = (uint32_t)id & SLOT_MASK;

    if ((id > UINT32_MAX) || (number == 0) || (number > table->num_slots) ||
        (table->slots[number - 1].generation != ((uint32_t)id >> SLOT_BITS))) {
        return NULL;
    }
    return table->slots[number - 1].object;
}

void ucp_id_del(ucp_id_table_t *table, uint32_t id)
{
    uint32_t number = id & SLOT_MASK;
    slot_t *slot    = &table->slots[number - 1];

    slot->object     = NULL;
    slot->generation = (slot->generation + 1) % GENERATION;
    append_free(table, number);
}
