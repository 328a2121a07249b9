/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System V segments whose creator was killed between creating and marking for
 * removal. That is rare, because the time between is two system calls, but the
 * kernel would keep the segment forever. Until it is marked, a segment has a
 * key by which processes recognize it. A process removes stale segments when a
 * space creates its first segment.
 */
#include "kind.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

#define KEY_TAG   0x55580000u /* "UX", above a number of 16 bits */
#define KEY_MASK  0xffff0000u
#define KEY_STEP  0x9e37u
#define KEY_TRIES 64

int shm_sysv_get(size_t length, int flags)
{
    struct timespec now;
    uint32_t number;
    int id = -1;

    clock_gettime(CLOCK_MONOTONIC, &now);
    number = (uint32_t)getpid() * KEY_STEP + (uint32_t)now.tv_nsec;
    for (unsigned i = 0; (id < 0) && (i < KEY_TRIES); ++i) {
        id = shmget((key_t)(KEY_TAG | (number & ~KEY_MASK)), length,
                    flags | IPC_CREAT | IPC_EXCL);
        if ((id < 0) && (errno != EEXIST)) {
            return -1;
        }
        number += KEY_STEP;
    }
    /* No key was free: create the segment without one. If this process dies
     * now, no process recognizes the segment as stale */
    return (id >= 0) ? id : shmget(IPC_PRIVATE, length, flags | IPC_CREAT);
}

/* Returns whether the segment belongs to this user, its creator has exited and
 * no process has it attached. A creator's PID of 0 means that it is in a PID
 * namespace that is not visible here. */
static int is_stale(const struct shmid_ds *ds)
{
    return (ds->shm_nattch == 0) && (ds->shm_cpid > 0) &&
           (ds->shm_perm.cuid == geteuid()) && (kill(ds->shm_cpid, 0) != 0) &&
           (errno == ESRCH);
}

void shm_sysv_remove_stale(void)
{
    FILE *file = fopen("/proc/sysvipc/shm", "re");
    struct shmid_ds ds;
    char line[512];
    long key;
    int id;

    if (file == NULL) {
        return;
    }
    while (fgets(line, sizeof(line), file) != NULL) {
        if ((sscanf(line, "%ld %d", &key, &id) == 2) &&
            (((uint32_t)key & KEY_MASK) == KEY_TAG) &&
            (shmctl(id, IPC_STAT, &ds) == 0) && is_stale(&ds)) {
            (void)shmctl(id, IPC_RMID, NULL);
        }
    }
    fclose(file);
}
