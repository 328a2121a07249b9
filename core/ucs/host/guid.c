/* SPDX-License-Identifier: BSD-3-Clause */
/* Identifiers of the kernel and its namespaces, and random numbers. */
#include "ucs/host/guid.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ucs/datastruct/hash.h"
#include "ucs/sys/sys.h"
#include "ucs/time/time.h"

static pthread_mutex_t guid_lock = PTHREAD_MUTEX_INITIALIZER;
static int guid_known; /* under guid_lock; 1: the values below are final */

/* boot_guid identifies the kernel, see ucs_boot_guid(). machine_guid also
 * identifies the network and PID namespaces, see ucs_get_system_id(). */
static uint64_t boot_guid, machine_guid;

/* Returns a number for the namespace at `path`: its inode number, which is the
 * same for two processes only if they share the namespace. Returns 0 without
 * /proc. */
static uint64_t namespace_id(const char *path)
{
    struct stat st;

    return (stat(path, &st) == 0) ? (uint64_t)st.st_ino : 0;
}

static uint64_t non_zero(uint64_t value)
{
    return (value == 0) ? 1 : value;
}

/* Computes both numbers once. If the file boot_id exists but cannot be read
 * (for lack of descriptors, for example), the next call computes them again. */
static void guid_init(void)
{
    char boot_id[64] = "";
    ucs_status_t status;
    uint64_t ids[2];

    pthread_mutex_lock(&guid_lock);
    if (guid_known) {
        goto out;
    }

    /* without the file boot_id, the host name identifies the kernel */
    status = ucs_read_file_line("/proc/sys/kernel/random/boot_id", boot_id,
                                sizeof(boot_id));
    if (status != UCS_OK) {
        ucs_strncpy_zero(boot_id, ucs_get_host_name(), sizeof(boot_id));
    }
    guid_known = (status == UCS_OK) || (status == UCS_ERR_NO_ELEM);

    boot_guid    = non_zero(ucs_hash_string(boot_id));
    ids[0]       = namespace_id("/proc/self/ns/net");
    ids[1]       = namespace_id("/proc/self/ns/pid");
    machine_guid = non_zero(ucs_hash_bytes(ids, sizeof(ids), boot_guid));
out:
    pthread_mutex_unlock(&guid_lock);
}

uint64_t ucs_get_system_id(void)
{
    guid_init();
    return machine_guid;
}

uint64_t ucs_boot_guid(void)
{
    guid_init();
    return boot_guid;
}

uint64_t ucs_generate_uuid(void)
{
    uint64_t value;
    ssize_t bytes;

    do {
        bytes = getrandom(&value, sizeof(value), 0);
    } while ((bytes < 0) && (errno == EINTR));

    if (bytes != (ssize_t)sizeof(value)) {
        /* the kernel does not have getrandom(): compute a number that is unique
         * but predictable */
        static uint64_t counter;
        uint64_t seed[4] = {
            ucs_get_system_id(),
            (uint64_t)ucs_get_tid(),
            ucs_get_time(),
            __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED),
        };
        value = ucs_hash_bytes(seed, sizeof(seed), 0);
    }

    return value;
}
