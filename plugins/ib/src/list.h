/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Circular doubly linked lists. The head of a list is an ib_link_t, and each
 * element contains an ib_link_t for each list that it can be in. The link of an
 * element that is in no list points to itself, as does the head of an empty
 * list.
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

/* Returns whether a list is empty, or whether an element is in no list. */
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

/* Appends `link` to the list, unless `link` is in a list already. */
static inline void ib_link_queue(ib_link_t *list, ib_link_t *link)
{
    if (ib_link_is_alone(link)) {
        ib_link_insert(list->prev, link);
    }
}

/* Moves all elements of `list` to `to`, whose previous contents are
 * overwritten. */
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
