/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests whether events arrive: makes the calls by their names, as a program
 * would, and checks whether a subscriber receives them. Nothing of the program
 * is changed; the end of the data segment is only queried.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ucm/internal.h"

/* Events of the tested call. Events of other threads arrive as well and are
 * ignored. */
typedef struct ucm_trial {
    pthread_t thread;
    atomic_int seen;     /* events received so far, as a mask */
    const void *address; /* of the current call */
} ucm_trial_t;

static void ucm_trial_hear(ucm_event_type_t type, ucm_event_t *event, void *arg)
{
    ucm_trial_t *trial  = arg;
    const void *address = NULL;

    if (!pthread_equal(trial->thread, pthread_self())) {
        return;
    }

    switch (type) {
    case UCM_EVENT_MUNMAP:
        address = event->munmap.address;
        break;
    case UCM_EVENT_MREMAP:
        address = event->mremap.address;
        break;
    case UCM_EVENT_MADVISE:
        address = event->madvise.addr;
        break;
    case UCM_EVENT_SHMDT:
        address = event->shmdt.shmaddr;
        break;
    case UCM_EVENT_VM_UNMAPPED:
        address = event->vm_unmapped.address;
        break;
    default:
        address = trial->address; /* the address is known after the call only */
        break;
    }
    if (address == trial->address) {
        atomic_fetch_or(&trial->seen, (int)type);
    }
}

/* Prepares the record for a call with this address. */
static void ucm_trial_begin(ucm_trial_t *trial, const void *address)
{
    trial->address = address;
    atomic_store(&trial->seen, 0);
}

/* Returns 0 if the call was reported, else its bit. An interceptor that does
 * not distinguish calls reports `vm_event` for the range instead. */
static int ucm_trial_heard(const ucm_trial_t *trial, ucm_call_t call,
                           int vm_event)
{
    return (atomic_load(&trial->seen) & ((1 << call) | vm_event)) ? 0 :
                                                                    1 << call;
}

static int ucm_try_mapping(ucm_trial_t *trial)
{
    const size_t size = ucm_page_size();
    int missing       = 0;
    char *page, *moved;

    ucm_trial_begin(trial, NULL);
    page = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return 0; /* without a mapping no call can be tested: report no missing
                   * call */
    }
    missing |= ucm_trial_heard(trial, UCM_CALL_MMAP, UCM_EVENT_VM_MAPPED);

    ucm_trial_begin(trial, page);
    (void)madvise(page, 2 * size, MADV_DONTNEED);
    missing |= ucm_trial_heard(trial, UCM_CALL_MADVISE, UCM_EVENT_VM_UNMAPPED);

    ucm_trial_begin(trial, page);
    moved = mremap(page, 2 * size, size, MREMAP_MAYMOVE);
    missing |= ucm_trial_heard(trial, UCM_CALL_MREMAP, UCM_EVENT_VM_UNMAPPED);

    if (moved == MAP_FAILED) {
        moved = page;
    }
    ucm_trial_begin(trial, moved);
    munmap(moved, size);
    missing |= ucm_trial_heard(trial, UCM_CALL_MUNMAP, UCM_EVENT_VM_UNMAPPED);
    return missing;
}

static int ucm_try_segment(ucm_trial_t *trial)
{
    int missing = 0;
    void *address;
    int id;

    id = shmget(IPC_PRIVATE, ucm_page_size(), IPC_CREAT | S_IRUSR | S_IWUSR);
    if (id < 0) {
        return 0; /* without a segment neither call can be tested: report no
                   * missing call */
    }

    ucm_trial_begin(trial, NULL);
    address = shmat(id, NULL, 0);
    (void)shmctl(id, IPC_RMID, NULL);
    if (address != (void *)-1) {
        missing |= ucm_trial_heard(trial, UCM_CALL_SHMAT, UCM_EVENT_VM_MAPPED);
        ucm_trial_begin(trial, address);
        (void)shmdt(address);
        missing |= ucm_trial_heard(trial, UCM_CALL_SHMDT,
                                   UCM_EVENT_VM_UNMAPPED);
    }
    return missing;
}

static int ucm_try_data_segment(ucm_trial_t *trial)
{
    int missing;

    ucm_trial_begin(trial, NULL);
    (void)sbrk(0);
    missing = ucm_trial_heard(trial, UCM_CALL_SBRK, 0);

    ucm_trial_begin(trial, NULL);
    (void)brk(NULL);
    return missing | ucm_trial_heard(trial, UCM_CALL_BRK, 0);
}

int ucm_test_calls(int calls)
{
    const int mapping = UCM_EVENT_MMAP | UCM_EVENT_MUNMAP | UCM_EVENT_MREMAP |
                        UCM_EVENT_MADVISE;
    const int segment = UCM_EVENT_SHMAT | UCM_EVENT_SHMDT;
    const int data    = UCM_EVENT_SBRK | UCM_EVENT_BRK;
    const int heard   = UCM_CALL_MASK | UCM_EVENT_VM_MAPPED |
                      UCM_EVENT_VM_UNMAPPED;
    int missing       = 0;
    int error         = errno;
    ucm_trial_t trial = {.thread = pthread_self()};

    if (calls == 0) {
        return 0;
    }

    if (ucm_set_event_handler(heard | UCM_EVENT_FLAG_NO_INSTALL, INT_MAX,
                              ucm_trial_hear, &trial) != UCS_OK) {
        return calls;
    }
    missing |= (calls & mapping) ? ucm_try_mapping(&trial) : 0;
    missing |= (calls & segment) ? ucm_try_segment(&trial) : 0;
    missing |= (calls & data) ? ucm_try_data_segment(&trial) : 0;
    ucm_unset_event_handler(heard, ucm_trial_hear, &trial);
    errno = error;
    return missing & calls;
}
