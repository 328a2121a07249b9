/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of the shared memory regions of the provider shm. By default, the
 * provider names a region by process id. A killed process leaves its region
 * behind, and a later process with the same id then cannot open an endpoint.
 * Therefore this plugin sets names with a random part, and removes the regions
 * of processes that have exited.
 */
#include "iface.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "/dev/shm/"

/* Minimum age in seconds of a region that is removed. libfabric 1.17 crashes if
 * it processes the connection request of a killed process whose region was
 * removed. */
enum { MIN_AGE = 60 };

/* Returns the number that identifies kernel and PID namespace in the name of a
 * region. */
static uint32_t space_of(const ugni_wire_addr_t *addr)
{
    return (uint32_t)(addr->space >> 32);
}

/* Returns whether `name` is a name that ugni_region_name() has set for a
 * process of this PID namespace, and this process has exited. */
static int is_abandoned(const ugni_wire_addr_t *self, const char *name)
{
    uint32_t space, pid;
    uint64_t start;

    return (sscanf(name, "ugni-%8" SCNx32 "-%" SCNx32 "-%" SCNx64 "-", &space,
                   &pid, &start) == 3) &&
           (space == space_of(self)) && ugni_process_is_gone(pid, start);
}

static void remove_if_old(const char *name)
{
    char path[sizeof(FOLDER) + NAME_MAX];
    struct stat st;

    snprintf(path, sizeof(path), FOLDER "%s", name);
    if ((stat(path, &st) == 0) && (time(NULL) - st.st_mtime >= MIN_AGE)) {
        /* This fails if another process has removed the region already. */
        (void)unlink(path);
    }
}

static void remove_abandoned(const ugni_wire_addr_t *self)
{
    DIR *dir = opendir(FOLDER);
    const struct dirent *entry;

    if (dir == NULL) {
        return;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (is_abandoned(self, entry->d_name)) {
            remove_if_old(entry->d_name);
        }
    }
    closedir(dir);
}

int ugni_region_name(ugni_port_t *port)
{
    char name[UGNI_MAX_NAME];
    ugni_wire_addr_t self;
    uint32_t random;
    int rc;

    if (strcmp(port->info->fabric_attr->prov_name, "shm") != 0) {
        return 0;
    }
    if (getrandom(&random, sizeof(random), 0) != sizeof(random)) {
        return -FI_EIO;
    }
    ugni_peer_self(port->md->host, &self);
    remove_abandoned(&self);
    snprintf(name, sizeof(name),
             "fi_shm://ugni-%08" PRIx32 "-%" PRIx32 "-%" PRIx64 "-%08" PRIx32,
             space_of(&self), self.pid, self.start, random);
    rc = fi_setname(&port->ep->fid, name, strlen(name) + 1);
    return (rc == -FI_ENOSYS) ? 0 : rc; /* -FI_ENOSYS: the provider does not
                                         * support it; the default name stays */
}
