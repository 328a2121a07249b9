/* SPDX-License-Identifier: BSD-3-Clause */
/* Destruction of spin locks. A lock owns no resources, so destroying it only
 * resets it. The functions do not check that the lock is free: programs built
 * for OpenUCX pass locks of the same size with other values inside. */
#include <ucs/type/spinlock.h>

void ucs_spinlock_destroy(ucs_spinlock_t *lock)
{
    ucs_spinlock_init(lock, 0);
}

void ucs_recursive_spinlock_destroy(ucs_recursive_spinlock_t *lock)
{
    ucs_recursive_spinlock_init(lock, 0);
}
