/* SPDX-License-Identifier: BSD-3-Clause */
/* A circular doubly linked list with a head. A node that is in no list points
 * to itself, so that removing it again has no effect. */
#ifndef TCP_LIST_H
#define TCP_LIST_H

#include <stddef.h>

typedef struct tcp_list {
    struct tcp_list *prev, *next;
} tcp_list_t;

static inline void tcp_list_init(tcp_list_t *node)
{
    node->prev = node->next = node;
}

/* Returns whether a list (by its head) is empty, or a node is in no list. */
static inline int tcp_list_is_empty(const tcp_list_t *node)
{
    return node->next == node;
}

static inline void tcp_list_add_tail(tcp_list_t *head, tcp_list_t *node)
{
    node->prev       = head->prev;
    node->next       = head;
    head->prev->next = node;
    head->prev       = node;
}

static inline void tcp_list_del(tcp_list_t *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    tcp_list_init(node);
}

/* Moves all nodes of `from` to `to`, which is uninitialized. */
static inline void tcp_list_take(tcp_list_t *to, tcp_list_t *from)
{
    if (tcp_list_is_empty(from)) {
        tcp_list_init(to);
        return;
    }
    *to            = *from;
    to->prev->next = to;
    to->next->prev = to;
    tcp_list_init(from);
}

#define tcp_list_first(_head, _type, _member) \
    tcp_container_of((_head)->next, _type, _member)

#endif
