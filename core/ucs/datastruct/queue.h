/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intrusive singly linked FIFO with one pointer per element. Elements are added
 * at the tail or the head. The first element, or any element during an
 * iteration, can be removed. An initialized head must not move in memory,
 * because `ptail` of an empty queue points into it.
 */
#ifndef UCS_QUEUE_H
#define UCS_QUEUE_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

typedef struct ucs_queue_elem {
    struct ucs_queue_elem *next; /* not valid in the last element */
} ucs_queue_elem_t;

typedef struct ucs_queue_head {
    ucs_queue_elem_t *head; /* first element; not valid in an empty queue */

    /* address of `next` of the last element; of `head` in an empty queue */
    ucs_queue_elem_t **ptail;
} ucs_queue_head_t;

/* Position in a queue: address of the pointer to an element, so that the
 * element can be removed. */
typedef ucs_queue_elem_t **ucs_queue_iter_t;

static inline void ucs_queue_head_init(ucs_queue_head_t *queue)
{
    queue->head  = NULL;
    queue->ptail = &queue->head;
}

static inline int ucs_queue_is_empty(const ucs_queue_head_t *queue)
{
    return queue->ptail == &queue->head;
}

static inline void ucs_queue_push(ucs_queue_head_t *queue,
                                  ucs_queue_elem_t *elem)
{
    *queue->ptail = elem;
    queue->ptail  = &elem->next;
}

static inline void ucs_queue_push_head(ucs_queue_head_t *queue,
                                       ucs_queue_elem_t *elem)
{
    if (ucs_queue_is_empty(queue)) {
        queue->ptail = &elem->next;
    }

    elem->next  = queue->head;
    queue->head = elem;
}

/* Removes the first element of a non-empty queue. */
static inline ucs_queue_elem_t *
ucs_queue_pull_non_empty(ucs_queue_head_t *queue)
{
    ucs_queue_elem_t *elem = queue->head;

    if (queue->ptail == &elem->next) {
        queue->ptail = &queue->head;
    } else {
        queue->head = elem->next;
    }

    return elem;
}

/* Removes the first element, or returns NULL. */
static inline ucs_queue_elem_t *ucs_queue_pull(ucs_queue_head_t *queue)
{
    return ucs_queue_is_empty(queue) ? NULL : ucs_queue_pull_non_empty(queue);
}

static inline ucs_queue_iter_t ucs_queue_iter_begin(ucs_queue_head_t *queue)
{
    return &queue->head;
}

static inline int ucs_queue_iter_end(const ucs_queue_head_t *queue,
                                     ucs_queue_iter_t iter)
{
    return iter == queue->ptail;
}

static inline ucs_queue_iter_t ucs_queue_iter_next(ucs_queue_iter_t iter)
{
    return &(*iter)->next;
}

/* Removes the element at `iter`. After that, `iter` is the position of the next
 * element, or the end. */
static inline void ucs_queue_del_iter(ucs_queue_head_t *queue,
                                      ucs_queue_iter_t iter)
{
    if (queue->ptail == &(*iter)->next) {
        queue->ptail = iter;
    } else {
        *iter = (*iter)->next;
    }
}

/* Searches for an element and removes it. No effect if the queue does not
 * contain it. */
static inline void ucs_queue_remove(ucs_queue_head_t *queue,
                                    ucs_queue_elem_t *elem)
{
    ucs_queue_iter_t iter = ucs_queue_iter_begin(queue);

    while (!ucs_queue_iter_end(queue, iter)) {
        if (*iter == elem) {
            ucs_queue_del_iter(queue, iter);
            return;
        }
        iter = ucs_queue_iter_next(iter);
    }
}

/* Moves all elements of @a src to the end of @a dst. */
static inline void ucs_queue_splice(ucs_queue_head_t *dst,
                                    ucs_queue_head_t *src)
{
    if (ucs_queue_is_empty(src)) {
        return;
    }

    *dst->ptail = src->head;
    dst->ptail  = src->ptail;
    ucs_queue_head_init(src);
}

static inline size_t ucs_queue_length(const ucs_queue_head_t *queue)
{
    ucs_queue_elem_t *const *iter = &queue->head;
    size_t length                 = 0;

    while (iter != queue->ptail) {
        ++length;
        iter = &(*iter)->next;
    }

    return length;
}

/* First element of a non-empty queue. */
#define ucs_queue_head_elem_non_empty(_queue, _type, _member) \
    ucs_container_of((_queue)->head, _type, _member)

/* Last element of a non-empty queue. */
#define ucs_queue_tail_elem_non_empty(_queue, _type, _member) \
    ucs_container_of(ucs_container_of((_queue)->ptail, ucs_queue_elem_t, \
                                      next), \
                     _type, _member)

/* Iterates; the body must not change the queue. */
#define ucs_queue_for_each(_elem, _queue, _member) \
    for (ucs_queue_iter_t _ucs_it_##_elem = &(_queue)->head; \
         (_ucs_it_##_elem != (_queue)->ptail) && \
         (((_elem) = ucs_container_of(*_ucs_it_##_elem, __typeof__(*(_elem)), \
                                      _member)), \
          1); \
         _ucs_it_##_elem = &(*_ucs_it_##_elem)->next)

/* Iterates. The body must advance the iterator: either by
 * ucs_queue_del_iter(_queue, _iter), which removes _elem, or by "_iter =
 * ucs_queue_iter_next(_iter)". */
#define ucs_queue_for_each_safe(_elem, _iter, _queue, _member) \
    for ((_iter) = ucs_queue_iter_begin(_queue); \
         !ucs_queue_iter_end(_queue, _iter) && \
         (((_elem) = \
               ucs_container_of(*(_iter), __typeof__(*(_elem)), _member)), \
          1);)

/* Removes the elements from the front and runs the body for each. Stops at the
 * first element for which _cond, an expression that may use _elem, is false. */
#define ucs_queue_for_each_extract(_elem, _queue, _member, _cond) \
    for (; !ucs_queue_is_empty(_queue) && \
           (((_elem) = ucs_container_of((_queue)->head, __typeof__(*(_elem)), \
                                        _member)), \
            1) && \
           (_cond) && (ucs_queue_pull_non_empty(_queue), 1);)

END_C_DECLS

#endif
