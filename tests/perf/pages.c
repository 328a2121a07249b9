/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp_bench: the kernel's state of pages that were just written for the first
 * time; see bench_age_pages() in bench.h. */
#include "bench.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* More than the kernel's list of a core has. */
enum { NUM_PAGES = 64, PAGE = 4096 };

void bench_age_pages(void)
{
    char *pages = mmap(NULL, NUM_PAGES * PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED) {
        bench_fail("no memory for pages", strerror(errno));
    }
    for (int i = 0; i < NUM_PAGES; ++i) {
        *(volatile char *)(pages + (size_t)i * PAGE) = 1;
    }
    (void)munmap(pages, NUM_PAGES * PAGE);
}
