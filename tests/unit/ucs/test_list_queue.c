/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists and queues keep their order for every operation that adds or removes an
 * element. */
#include "suite.h"

#include "ucs/datastruct/list.h"
#include "ucs/datastruct/queue.h"

typedef struct {
    int value;
    ucs_list_link_t list;
    ucs_queue_elem_t queue;
} item_t;

static item_t items[6];

static void items_init(void)
{
    int i;

    for (i = 0; i < 6; ++i) {
        items[i].value = i;
    }
}

static const char *list_text(ucs_list_link_t *head)
{
    static char text[16];
    char *p = text;
    item_t *item;

    ucs_list_for_each(item, head, list) {
        *p++ = (char)('0' + item->value);
    }
    *p = '\0';
    return text;
}

static const char *queue_text(ucs_queue_head_t *queue)
{
    static char text[16];
    char *p = text;
    item_t *item;

    ucs_queue_for_each(item, queue, queue) {
        *p++ = (char)('0' + item->value);
    }
    *p = '\0';
    return text;
}

START_TEST(list_keeps_order)
{
    UCS_LIST_HEAD(head);
    UCS_LIST_HEAD(other);
    item_t *item, *next;

    items_init();
    ck_assert(ucs_list_is_empty(&head));
    ucs_list_add_tail(&head, &items[1].list);
    ucs_list_add_tail(&head, &items[3].list);
    ucs_list_add_head(&head, &items[0].list);
    ucs_list_insert_before(&items[3].list, &items[2].list);
    ck_assert_str_eq(list_text(&head), "0123");
    ck_assert_uint_eq(ucs_list_length(&head), 4);

    ucs_list_add_tail(&other, &items[4].list);
    ucs_list_add_tail(&other, &items[5].list);
    ucs_list_splice_tail(&head, &other);
    ck_assert(ucs_list_is_empty(&other));
    ck_assert_str_eq(list_text(&head), "012345");

    ucs_list_for_each_safe(item, next, &head, list) {
        if (item->value % 2) {
            ucs_list_del(&item->list);
        }
    }
    ck_assert_str_eq(list_text(&head), "024");
    ck_assert_int_eq(ucs_list_extract_head(&head, item_t, list)->value, 0);
    ck_assert_int_eq(ucs_list_tail(&head, item_t, list)->value, 4);
    ucs_list_del_init(&items[2].list);
    ucs_list_del_init(&items[2].list);
    ck_assert(ucs_list_is_only(&head, &items[4].list));
}
END_TEST

START_TEST(queue_keeps_order)
{
    ucs_queue_head_t queue, other;

    items_init();
    ucs_queue_head_init(&queue);
    ucs_queue_head_init(&other);
    ck_assert_ptr_null(ucs_queue_pull(&queue));
    ucs_queue_push_head(&queue, &items[1].queue);
    ucs_queue_push(&queue, &items[2].queue);
    ucs_queue_push_head(&queue, &items[0].queue);
    ck_assert_str_eq(queue_text(&queue), "012");

    ucs_queue_push(&other, &items[3].queue);
    ucs_queue_splice(&queue, &other);
    ck_assert(ucs_queue_is_empty(&other));
    ck_assert_uint_eq(ucs_queue_length(&queue), 4);
    ck_assert_int_eq(
        ucs_queue_tail_elem_non_empty(&queue, item_t, queue)->value, 3);
    ck_assert_ptr_eq(ucs_queue_pull(&queue), &items[0].queue);
    ck_assert_str_eq(queue_text(&queue), "123");
}
END_TEST

START_TEST(queue_removes_anywhere)
{
    ucs_queue_head_t queue;
    ucs_queue_iter_t iter;
    item_t *item;
    int i;

    items_init();
    ucs_queue_head_init(&queue);
    for (i = 0; i < 6; ++i) {
        ucs_queue_push(&queue, &items[i].queue);
    }

    ucs_queue_for_each_safe(item, iter, &queue, queue) {
        if ((item->value == 0) || (item->value == 3) || (item->value == 5)) {
            ucs_queue_del_iter(&queue, iter);
        } else {
            iter = ucs_queue_iter_next(iter);
        }
    }
    ck_assert_str_eq(queue_text(&queue), "124");

    /* the last element was removed: a new one is appended to the one before
     * it */
    ucs_queue_push(&queue, &items[5].queue);
    ck_assert_str_eq(queue_text(&queue), "1245");
    ucs_queue_remove(&queue, &items[5].queue);
    ucs_queue_for_each_extract(item, &queue, queue, item->value < 4) {
    }
    ck_assert_str_eq(queue_text(&queue), "4");
    ucs_queue_remove(&queue, &items[4].queue);
    ck_assert(ucs_queue_is_empty(&queue));
}
END_TEST

SUITE_MAIN("list and queue", list_keeps_order, queue_keeps_order,
           queue_removes_anywhere)
