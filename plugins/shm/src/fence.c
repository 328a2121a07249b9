/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The asymmetric fence: see fence.h.
 */
#include "fence.h"

#include <linux/membarrier.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static int membarrier(int command)
{
    return (int)syscall(__NR_membarrier, command, 0, 0);
}

int shm_fence_register(void)
{
    return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
}

int shm_fence_is_global(void)
{
    int commands = membarrier(MEMBARRIER_CMD_QUERY);

    return (commands > 0) && (commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0;
}

void shm_fence_all(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}
