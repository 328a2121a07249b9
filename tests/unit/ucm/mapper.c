/* SPDX-License-Identifier: BSD-3-Clause */
/* A shared object that maps and unmaps memory. Tests load it after UCM has
 * started to intercept these calls. */
#include <sys/mman.h>

__attribute__((visibility("default"))) void *mapper_map_and_unmap(void);

void *mapper_map_and_unmap(void)
{
    void *address = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                         0);

    return ((address == MAP_FAILED) || (munmap(address, 4096) != 0)) ?
               (void *)0 :
               address;
}
