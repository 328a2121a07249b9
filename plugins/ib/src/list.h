/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Circular doubly linked lists. A link is a member of the element that it
 * connects. A link that is in no list points to itself.
 */
#ifndef IB_LIST_H
#define IB_LIST_H

typedef struct ib_link {
    struct ib_link *next, *prev;
} ib_link_t;

static inline void ib_link_init(ib_link_t *link)
{
    link->next = link->prev = link;
}

static inline int ib_link_is_alone(const ib_link_t *link)
{
    return link->next == link;
}

/* Inserts `link` after `prev`. */
static inline void ib_link_insert(ib_link_t *prev, ib_link_t *link)
{
    link->prev       = prev;
    link->next       = prev->next;
    prev->next->prev = link;
    prev->next       = link;
}

static inline void ib_link_remove(ib_link_t *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    ib_link_init(link);
}

/* Appends `link`, unless it is in a list already. */
static inline void ib_link_queue(ib_link_t *list, ib_link_t *link)
{
    if (ib_link_is_alone(link)) {
        ib_link_insert(list->prev, link);
    }
}

/* Moves all elements of `list` to the list `to`, which the caller need not
 * initialize. */
static inline void ib_link_take_all(ib_link_t *list, ib_link_t *to)
{
    *to            = *list;
    to->next->prev = to;
    to->prev->next = to;
    if (to->next == list) {
        ib_link_init(to);
    }
    ib_link_init(list);
}

#endif
