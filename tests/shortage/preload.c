/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starves a program that was not built for it: preloaded, it makes call number
 * SHORTAGE_NTH for memory fail, or for a descriptor if SHORTAGE_WHAT is
 * "descriptors". At exit it writes the number of calls, a line, to descriptor
 * SHORTAGE_REPORT. Processes that the program forks go on counting, each by
 * itself; programs that it starts do not.
 */
#include "scarce.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int report = -1;

static void tell(void)
{
    uint64_t calls = scarce_end();

    if (report >= 0) {
        dprintf(report, "%llu\n", (unsigned long long)calls);
        report = -1;
    }
}

/* How forked processes end. */
void _exit(int status)
{
    void (*end)(int) __attribute__((__noreturn__)) = dlsym(RTLD_NEXT, "_exit");

    tell();
    end(status);
}

__attribute__((constructor)) static void begin(void)
{
    const char *nth  = getenv("SHORTAGE_NTH");
    const char *what = getenv("SHORTAGE_WHAT");
    const char *fd   = getenv("SHORTAGE_REPORT");
    const bool fds   = (what != NULL) && (strcmp(what, "descriptors") == 0);

    if (nth == NULL) {
        return;
    }
    report = (fd != NULL) ? atoi(fd) : -1;
    atexit(tell);
    unsetenv("LD_PRELOAD"); /* programs that it starts */
    scarce_begin(fds ? SCARCE_DESCRIPTORS : SCARCE_MEMORY,
                 strtoull(nth, NULL, 10), 1);
}
