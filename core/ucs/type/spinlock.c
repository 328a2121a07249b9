/* SPDX-License-Identifier: BSD-3-Clause */
/* Destruction of a spin lock. A lock owns nothing, so any state is accepted.
 * Programs built for the reference have locks of the same size with other
 * values. */
#include <ucs/type/spinlock.h>

void ucs_spinlock_destroy(ucs_spinlock_t *lock)
{
    ucs_spinlock_init(lock, 0);
}

void ucs_recursive_spinlock_destroy(ucs_recursive_spinlock_t *lock)
{
    ucs_recursive_spinlock_init(lock, 0);
}
