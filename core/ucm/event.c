/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Subscribers and event delivery. A thread that delivers an event (a reader)
 * walks the list of subscribers without a lock, and is counted in one of two
 * periods meanwhile. Ending a subscription removes it from the list and waits
 * until both periods have been empty once. Therefore events may come from any
 * thread and from inside handlers, and delivery never waits, never allocates,
 * and uses no thread-local memory.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ucm/internal.h"
#include "ucm/memtype.h"

typedef struct ucm_handler ucm_handler_t;

struct ucm_handler {
    _Atomic(ucm_handler_t *) next;
    atomic_int events; /* UCM_EVENT_* that the subscriber wants */
    int priority;
    ucm_event_callback_t cb;
    void *arg;
    ucm_handler_t *garbage; /* next in a list of handlers to free */
};

/* Protects changes of the list; never held during the delivery of events, or
 * while waiting for readers. */
static pthread_mutex_t ucm_lock = PTHREAD_MUTEX_INITIALIZER;

/* For threads that wait for readers to leave; never taken by a reader. */
static pthread_mutex_t ucm_sync_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t ucm_fork_once  = PTHREAD_ONCE_INIT;

/* Subscribers, in ascending order of priority. */
static _Atomic(ucm_handler_t *) ucm_handlers;
/* Events that other interceptors report (ucm_set_external_event()): UCM does
 * not intercept calls for them. */
static atomic_int ucm_external;

/* The number of readers in each period; the current period, by its lowest bit;
 * the number of threads that wait until a period has no readers. */
static atomic_int ucm_readers[2];
static atomic_int ucm_period;
static atomic_int ucm_waiters;

/* --- Delivery ------------------------------------------------------------ */

int ucm_event_enter(void)
{
    int period = atomic_load(&ucm_period) & 1;

    atomic_fetch_add(&ucm_readers[period], 1);
    return period;
}

void ucm_event_leave(int token)
{
    if ((atomic_fetch_sub(&ucm_readers[token], 1) == 1) &&
        (atomic_load(&ucm_waiters) > 0)) {
        int saved = errno;

        syscall(SYS_futex, &ucm_readers[token], FUTEX_WAKE_PRIVATE, INT_MAX,
                NULL, NULL, 0);
        errno = saved;
    }
}

int ucm_event_is_wanted(void)
{
    return atomic_load(&ucm_handlers) != NULL;
}

void ucm_event_dispatch(ucm_event_type_t type, ucm_event_t *event, int low,
                        int high)
{
    ucm_handler_t *handler;

    for (handler = atomic_load(&ucm_handlers); handler != NULL;
         handler = atomic_load(&handler->next)) {
        if ((atomic_load(&handler->events) & (int)type) &&
            (handler->priority >= low) && (handler->priority <= high)) {
            handler->cb(type, event, handler->arg);
        }
    }
}

/* Reports a change of a range to all subscribers of the event `type`. The range
 * is extended to whole pages, because the kernel maps and unmaps these. */
static void ucm_event_vm(ucm_event_type_t type, void *address, size_t size)
{
    const uintptr_t mask = ucm_page_size() - 1;
    uintptr_t start      = (uintptr_t)address & ~mask;
    uintptr_t end;
    ucm_event_t event;

    if (size == 0) {
        return;
    }

    if (__builtin_add_overflow((uintptr_t)address, size, &end) ||
        (end > UINTPTR_MAX - mask)) {
        end = ~mask;
    } else {
        end = (end + mask) & ~mask;
    }
    event.vm_mapped.address = (void *)start;
    event.vm_mapped.size    = end - start;
    ucm_event_dispatch(type, &event, INT_MIN, INT_MAX);
}

void ucm_event_vm_mapped(void *address, size_t size)
{
    ucm_event_vm(UCM_EVENT_VM_MAPPED, address, size);
}

void ucm_event_vm_unmapped(void *address, size_t size)
{
    ucm_event_vm(UCM_EVENT_VM_UNMAPPED, address, size);
}

void ucm_vm_mmap(void *addr, size_t length)
{
    int token = ucm_event_enter();

    ucm_event_vm_mapped(addr, length);
    ucm_event_leave(token);
}

void ucm_vm_munmap(void *addr, size_t length)
{
    int token = ucm_event_enter();

    ucm_event_vm_unmapped(addr, length);
    ucm_event_leave(token);
}

static void ucm_mem_type_tell(ucm_event_type_t event_type, void *address,
                              size_t size, ucs_memory_type_t type)
{
    ucm_event_t event;
    int token;

    if (!ucm_event_is_wanted()) {
        return;
    }

    event.mem_type.address  = address;
    event.mem_type.size     = size;
    event.mem_type.mem_type = type;
    token                   = ucm_event_enter();
    ucm_event_dispatch(event_type, &event, INT_MIN, INT_MAX);
    ucm_event_leave(token);
}

void ucm_mem_type_alloc(void *address, size_t size, ucs_memory_type_t type)
{
    ucm_mem_type_tell(UCM_EVENT_MEM_TYPE_ALLOC, address, size, type);
}

void ucm_mem_type_free(void *address, size_t size, ucs_memory_type_t type)
{
    ucm_mem_type_tell(UCM_EVENT_MEM_TYPE_FREE, address, size, type);
}

/* --- Waiting until earlier readers have left ----------------------------- */

/* Changes the period and waits for the readers of the previous period, twice.
 * Once is not sufficient: a reader may have read the number of the period but
 * not counted itself yet, and then counts itself in the previous period. */
static void ucm_event_synchronize(void)
{
    unsigned pass;
    int old, count;

    pthread_mutex_lock(&ucm_sync_lock);
    atomic_fetch_add(&ucm_waiters, 1);
    for (pass = 0; pass < 2; ++pass) {
        old = atomic_fetch_xor(&ucm_period, 1) & 1;
        while ((count = atomic_load(&ucm_readers[old])) != 0) {
            syscall(SYS_futex, &ucm_readers[old], FUTEX_WAIT_PRIVATE, count,
                    NULL, NULL, 0);
        }
    }
    atomic_fetch_sub(&ucm_waiters, 1);
    pthread_mutex_unlock(&ucm_sync_lock);
}

/* --- fork ---------------------------------------------------------------- */

static void ucm_fork_prepare(void)
{
    pthread_mutex_lock(&ucm_sync_lock);
    pthread_mutex_lock(&ucm_lock);
}

static void ucm_fork_parent(void)
{
    pthread_mutex_unlock(&ucm_lock);
    pthread_mutex_unlock(&ucm_sync_lock);
}

/* In the child, resets the counts: the readers of the parent do not exist. */
static void ucm_fork_child(void)
{
    atomic_store(&ucm_readers[0], 0);
    atomic_store(&ucm_readers[1], 0);
    ucm_fork_parent();
}

static void ucm_fork_register(void)
{
    pthread_atfork(ucm_fork_prepare, ucm_fork_parent, ucm_fork_child);
}

/* --- Subscriptions ------------------------------------------------------- */

int ucm_event_calls(int events)
{
    int calls = events & UCM_CALL_MASK;

    if (events & UCM_EVENT_VM_MAPPED) {
        calls |= UCM_EVENT_MMAP | UCM_EVENT_MREMAP | UCM_EVENT_SHMAT |
                 UCM_EVENT_SBRK | UCM_EVENT_BRK;
    }
    if (events & UCM_EVENT_VM_UNMAPPED) {
        /* also mmap and shmat: at a fixed address they replace mappings */
        calls |= UCM_CALL_MASK;
    }
    return calls;
}

static void ucm_handler_insert(ucm_handler_t *handler)
{
    _Atomic(ucm_handler_t *) *place = &ucm_handlers;
    ucm_handler_t *next;

    pthread_mutex_lock(&ucm_lock);
    while (((next = atomic_load(place)) != NULL) &&
           (next->priority <= handler->priority)) {
        place = &next->next;
    }
    atomic_store(&handler->next, next);
    atomic_store(place, handler);
    pthread_mutex_unlock(&ucm_lock);
}

static int ucm_existing_report(const ucm_map_t *map, void *arg)
{
    const ucm_handler_t *handler = arg;
    ucm_event_t event;

    event.vm_mapped.address = (void *)map->start;
    event.vm_mapped.size    = map->end - map->start;
    handler->cb(UCM_EVENT_VM_MAPPED, &event, handler->arg);
    return 0;
}

ucs_status_t ucm_set_event_handler(int events, int priority,
                                   ucm_event_callback_t cb, void *arg)
{
    const int known = UCM_CALL_MASK | UCM_EVENT_VM_MAPPED |
                      UCM_EVENT_VM_UNMAPPED | UCM_EVENT_MEM_TYPE_ALLOC |
                      UCM_EVENT_MEM_TYPE_FREE;
    int wanted = events & ~UCM_EVENT_FLAG_MASK;
    ucm_handler_t *handler;
    ucs_status_t status;

    if ((cb == NULL) || (wanted & ~known)) {
        return UCS_ERR_INVALID_PARAM;
    }

    pthread_once(&ucm_fork_once, ucm_fork_register);
    if (!(events & UCM_EVENT_FLAG_NO_INSTALL)) {
        status = ucm_install(
            ucm_event_calls(wanted & ~atomic_load(&ucm_external)));
        if (status != UCS_OK) {
            return status;
        }
    }

    handler = calloc(1, sizeof(*handler));
    if (handler == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    atomic_init(&handler->events, wanted);
    handler->priority = priority;
    handler->cb       = cb;
    handler->arg      = arg;
    if ((events & UCM_EVENT_FLAG_EXISTING_ALLOC) &&
        (wanted & UCM_EVENT_VM_MAPPED)) {
        (void)ucm_maps_each(ucm_existing_report, handler);
    }
    ucm_handler_insert(handler);
    return UCS_OK;
}

void ucm_unset_event_handler(int events, ucm_event_callback_t cb, void *arg)
{
    _Atomic(ucm_handler_t *) *place = &ucm_handlers;
    ucm_handler_t *garbage          = NULL;
    ucm_handler_t *handler;

    pthread_mutex_lock(&ucm_lock);
    while ((handler = atomic_load(place)) != NULL) {
        if ((handler->cb == cb) && (handler->arg == arg)) {
            atomic_fetch_and(&handler->events, ~events);
            if (atomic_load(&handler->events) == 0) {
                /* do not change the element's `next`: a reader may be at this
                 * element and follow it */
                atomic_store(place, atomic_load(&handler->next));
                handler->garbage = garbage;
                garbage          = handler;
                continue;
            }
        }
        place = &handler->next;
    }
    pthread_mutex_unlock(&ucm_lock);

    ucm_event_synchronize();
    while ((handler = garbage) != NULL) {
        garbage = handler->garbage;
        free(handler);
    }
}

void ucm_set_external_event(int events)
{
    atomic_fetch_or(&ucm_external, events & ~UCM_EVENT_FLAG_MASK);
}

void ucm_unset_external_event(int events)
{
    atomic_fetch_and(&ucm_external, ~events);
}

/* --- Tests of events ----------------------------------------------------- */

ucs_status_t ucm_test_events(int events)
{
    int calls = ucm_event_calls(events & ~atomic_load(&ucm_external)) &
                ucm_installed_calls();

    return (ucm_test_calls(calls) == 0) ? UCS_OK : UCS_ERR_UNSUPPORTED;
}

/* Some external sources report by ucm_vm_mmap() and ucm_vm_munmap(), which do
 * not distinguish calls: UCM_EVENT_VM_MAPPED and UCM_EVENT_VM_UNMAPPED are
 * accepted instead of the events of the calls. */
ucs_status_t ucm_test_external_events(int events)
{
    int external = events & atomic_load(&ucm_external);
    int calls    = external & UCM_CALL_MASK;

    if (external & UCM_EVENT_VM_MAPPED) {
        calls |= UCM_EVENT_MMAP;
    }
    if (external & UCM_EVENT_VM_UNMAPPED) {
        calls |= UCM_EVENT_MUNMAP | UCM_EVENT_MREMAP | UCM_EVENT_MADVISE |
                 UCM_EVENT_SHMDT;
    }
    return (ucm_test_calls(calls) == 0) ? UCS_OK : UCS_ERR_UNSUPPORTED;
}
