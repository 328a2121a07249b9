/* SPDX-License-Identifier: BSD-3-Clause */
/* Destruction of spin locks. A lock owns nothing, so its state is not checked:
 * programs built for OpenUCX have locks of the same size whose values mean
 * something else. */
#include <ucs/type/spinlock.h>

void ucs_spinlock_destroy(ucs_spinlock_t *lock)
{
    ucs_spinlock_init(lock, 0);
}

void ucs_recursive_spinlock_destroy(ucs_recursive_spinlock_t *lock)
{
    ucs_recursive_spinlock_init(lock, 0);
}
