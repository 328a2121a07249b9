/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of items (fork.h), whose descriptors forked children close. The
 * handler is registered with the C library when the first item is added.
 */
#include "fork.h"

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static shm_fork_item_t *items;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before(void)
{
    pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
    shm_fork_item_t *item;

    while ((item = items) != NULL) {
        items      = item->next;
        item->link = NULL;
        item->child(item);
    }
    pthread_mutex_unlock(&lock);
}

static void set_up(void)
{
    pthread_atfork(before, in_parent, in_child);
}

void shm_fork_add(shm_fork_item_t *item, void (*child)(shm_fork_item_t *item))
{
    pthread_once(&once, set_up);
    pthread_mutex_lock(&lock);
    item->child = child;
    item->next  = items;
    item->link  = &items;
    if (items != NULL) {
        items->link = &item->next;
    }
    items = item;
    pthread_mutex_unlock(&lock);
}

void shm_fork_remove(shm_fork_item_t *item)
{
    pthread_mutex_lock(&lock);
    if (item->link != NULL) {
        *item->link = item->next;
        if (item->next != NULL) {
            item->next->link = item->link;
        }
        item->link = NULL;
    }
    pthread_mutex_unlock(&lock);
}
