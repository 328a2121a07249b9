/* SPDX-License-Identifier: BSD-3-Clause */
/* Circular doubly linked lists. A node in no list, and an empty list, point to
 * themselves. */
#ifndef UGNI_LINK_H
#define UGNI_LINK_H

typedef struct ugni_link {
    struct ugni_link *prev, *next;
} ugni_link_t;

static inline void ugni_link_init(ugni_link_t *link)
{
    link->prev = link->next = link;
}

static inline void ugni_link_remove(ugni_link_t *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    ugni_link_init(link);
}

static inline void ugni_link_add(ugni_link_t *list, ugni_link_t *link)
{
    link->prev       = list->prev;
    link->next       = list;
    list->prev->next = link;
    list->prev       = link;
}

static inline int ugni_link_is_alone(const ugni_link_t *link)
{
    return link->next == link;
}

#endif
