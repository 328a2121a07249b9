/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A handler of memory events for tests, and its record. heard_cb() stores the
 * first HEARD_MAX events that it receives; heard_range() tells whether one of
 * them covered a range. The handler allocates no memory, because allocations
 * cause events.
 */
#ifndef TEST_UCM_HEARD_H
#define TEST_UCM_HEARD_H

#include <check.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <ucm/api/ucm.h>

#define ck_ok(_status) ck_assert_int_eq((_status), UCS_OK)

#define PAGE      4096ul
#define VM_EVENTS (UCM_EVENT_VM_MAPPED | UCM_EVENT_VM_UNMAPPED)
#define CALL_EVENTS \
    (UCM_EVENT_MMAP | UCM_EVENT_MUNMAP | UCM_EVENT_MREMAP | UCM_EVENT_SHMAT | \
     UCM_EVENT_SHMDT | UCM_EVENT_SBRK | UCM_EVENT_MADVISE | UCM_EVENT_BRK)

#define HEARD_MAX 4096

typedef struct heard {
    atomic_uint count; /* events received; HEARD_MAX of them are stored */
    struct {
        ucm_event_type_t type;
        ucm_event_t event;
    } events[HEARD_MAX];
} heard_t;

static inline void heard_cb(ucm_event_type_t type, ucm_event_t *event,
                            void *arg)
{
    heard_t *heard = arg;
    unsigned index = atomic_fetch_add(&heard->count, 1);

    if (index < HEARD_MAX) {
        heard->events[index].event = *event;
        heard->events[index].type  = type;
    }
}

static inline void heard_clear(heard_t *heard)
{
    atomic_store(&heard->count, 0);
}

static inline unsigned heard_count(const heard_t *heard)
{
    unsigned count = atomic_load(&heard->count);

    return (count < HEARD_MAX) ? count : HEARD_MAX;
}

/* Returns the number of recorded events of this type. */
static inline unsigned heard_type(const heard_t *heard, ucm_event_type_t type)
{
    unsigned i, found = 0;

    for (i = 0; i < heard_count(heard); ++i) {
        found += (heard->events[i].type == type);
    }
    return found;
}

/* Returns whether one recorded event of this type (VM_MAPPED or VM_UNMAPPED)
 * covered the whole range. */
static inline int heard_range(const heard_t *heard, ucm_event_type_t type,
                              const void *address, size_t length)
{
    uintptr_t start = (uintptr_t)address;
    unsigned i;

    for (i = 0; i < heard_count(heard); ++i) {
        uintptr_t first = (uintptr_t)heard->events[i].event.vm_mapped.address;
        size_t size     = heard->events[i].event.vm_mapped.size;

        if ((heard->events[i].type == type) && (first <= start) &&
            (start + length <= first + size)) {
            return 1;
        }
    }
    return 0;
}

#define ck_mapped(_heard, _address, _length) \
    ck_assert_msg(heard_range(_heard, UCM_EVENT_VM_MAPPED, _address, _length), \
                  "no mapping of %p was heard of", (void *)(_address))

#define ck_unmapped(_heard, _address, _length) \
    ck_assert_msg(heard_range(_heard, UCM_EVENT_VM_UNMAPPED, _address, \
                              _length), \
                  "no unmapping of %p was heard of", (void *)(_address))

#endif
