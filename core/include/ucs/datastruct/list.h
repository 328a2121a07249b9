/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intrusive doubly linked circular list. The head is a link without an element;
 * each element contains a link. An element can be removed without the head. The
 * functions do not allocate memory and do not lock.
 */
#ifndef UCS_LIST_H
#define UCS_LIST_H

#include <ucs/sys/compiler_def.h>

#if defined(__SANITIZE_ADDRESS__)
#define UCS_LIST_ASAN_ 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UCS_LIST_ASAN_ 1
#endif
#endif
#ifdef UCS_LIST_ASAN_
#include <sanitizer/asan_interface.h>
#endif

/* Whether the address sanitizer allows access to the address. Always true
 * without the address sanitizer. */
#ifdef UCS_LIST_ASAN_
#define UCS_ASAN_ADDRESS_IS_VALID(_ptr) (!__asan_address_is_poisoned(_ptr))
#else
#define UCS_ASAN_ADDRESS_IS_VALID(_ptr) 1
#endif

/* Whether the link can be read, and its neighbours point back to it. */
#define UCS_LIST_CHECK_ELEM_IS_VALID(_elem) \
    (UCS_ASAN_ADDRESS_IS_VALID(_elem) && ((_elem)->next->prev == (_elem)) && \
     ((_elem)->prev->next == (_elem)))

BEGIN_C_DECLS

/** @addtogroup UCS_DATASTRUCT
 *  @{ */

/** A link in an element, or the head of a list. */
typedef struct ucs_list_link {
    struct ucs_list_link *prev; /**< previous element, or the head */
    struct ucs_list_link *next; /**< next element, or the head */
} ucs_list_link_t;

/** Initializer of an empty list. */
#define UCS_LIST_INITIALIZER(_head) \
    { \
        (_head), (_head) \
    }

/* Declares an empty list. */
#define UCS_LIST_HEAD(_name) \
    ucs_list_link_t _name = UCS_LIST_INITIALIZER(&(_name))

/** Initializes an empty list. */
static inline void ucs_list_head_init(ucs_list_link_t *head)
{
    head->prev = head;
    head->next = head;
}

/**
 * Tests whether a list has no element.
 *
 * @return 1 if it has none, else 0
 */
static inline int ucs_list_is_empty(const ucs_list_link_t *head)
{
    return head->next == head;
}

/**
 * Tests whether @a elem is the only element of a list.
 *
 * @return 1 if it is, else 0
 */
static inline int ucs_list_is_only(const ucs_list_link_t *head,
                                   const ucs_list_link_t *elem)
{
    return (head->next == elem) && (elem->next == head);
}

/** Inserts an element after another one, or after the head. */
static inline void ucs_list_insert_after(ucs_list_link_t *pos,
                                         ucs_list_link_t *elem)
{
    elem->prev      = pos;
    elem->next      = pos->next;
    pos->next->prev = elem;
    pos->next       = elem;
}

/**
 * Inserts an element before another element. If @a pos is the head, the new
 * element becomes the last one.
 */
static inline void ucs_list_insert_before(ucs_list_link_t *pos,
                                          ucs_list_link_t *elem)
{
    ucs_list_insert_after(pos->prev, elem);
}

/* These are macros, because programs may test whether they are defined. */
#define ucs_list_add_head(_head, _elem) ucs_list_insert_after(_head, _elem)
#define ucs_list_add_tail(_head, _elem) ucs_list_insert_before(_head, _elem)

/**
 * Removes an element. Its link is not changed: do not remove it twice.
 */
static inline void ucs_list_del(ucs_list_link_t *elem)
{
    elem->prev->next = elem->next;
    elem->next->prev = elem->prev;
}

/**
 * Removes an element and makes its link an empty list. So the element may be
 * removed again, and ucs_list_is_empty() of its link shows that it is in no
 * list.
 */
static inline void ucs_list_del_init(ucs_list_link_t *elem)
{
    ucs_list_del(elem);
    ucs_list_head_init(elem);
}

/** Moves all elements of @a src to the end of @a dst. */
static inline void ucs_list_splice_tail(ucs_list_link_t *dst,
                                        ucs_list_link_t *src)
{
    if (ucs_list_is_empty(src)) {
        return;
    }

    src->next->prev = dst->prev;
    src->prev->next = dst;
    dst->prev->next = src->next;
    dst->prev       = src->prev;
    ucs_list_head_init(src);
}

/**
 * Counts the elements.
 *
 * @return Their number
 */
static inline unsigned long ucs_list_length(const ucs_list_link_t *head)
{
    const ucs_list_link_t *link;
    unsigned long length = 0;

    for (link = head->next; link != head; link = link->next) {
        ++length;
    }

    return length;
}

/** Returns the element that contains a link. */
#define ucs_list_elem(_link, _type, _member) \
    ucs_container_of(_link, _type, _member)

/* Return the first and the last element of a list that is not empty. */
#define ucs_list_head(_head, _type, _member) \
    ucs_container_of((_head)->next, _type, _member)
#define ucs_list_tail(_head, _type, _member) \
    ucs_container_of((_head)->prev, _type, _member)

/** Return the next and the previous element, which must exist. */
#define ucs_list_next(_link, _type, _member) \
    ucs_container_of((_link)->next, _type, _member)
#define ucs_list_prev(_link, _type, _member) \
    ucs_container_of((_link)->prev, _type, _member)

/**
 * Removes the first element of a list that is not empty.
 *
 * @return The link of the element
 */
static inline ucs_list_link_t *ucs_list_extract_link(ucs_list_link_t *head)
{
    ucs_list_link_t *link = head->next;

    ucs_list_del(link);
    return link;
}

/** Removes and returns the first element of a list that is not empty. */
#define ucs_list_extract_head(_head, _type, _member) \
    ucs_container_of(ucs_list_extract_link(_head), _type, _member)

/** Runs the body for each element. The body must not remove _elem. */
#define ucs_list_for_each(_elem, _head, _member) \
    for ((_elem) = \
             ucs_container_of((_head)->next, ucs_typeof(*(_elem)), _member); \
         &(_elem)->_member != (_head); \
         (_elem) = ucs_container_of((_elem)->_member.next, \
                                    ucs_typeof(*(_elem)), _member))

/* As ucs_list_for_each(). The body may remove or free _elem, but not _next. */
#define ucs_list_for_each_safe(_elem, _next, _head, _member) \
    for ((_elem) = \
             ucs_container_of((_head)->next, ucs_typeof(*(_elem)), _member), \
        (_next) = ucs_container_of((_elem)->_member.next, \
                                   ucs_typeof(*(_elem)), _member); \
         &(_elem)->_member != (_head); (_elem) = (_next), \
        (_next) = ucs_container_of((_next)->_member.next, \
                                   ucs_typeof(*(_next)), _member))

/** @} */

END_C_DECLS

#endif
