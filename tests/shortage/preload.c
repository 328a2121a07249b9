/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failures for a program that was not built for them. When this library is
 * preloaded, memory allocation number SHORTAGE_NTH fails, or with
 * SHORTAGE_WHAT=descriptors that of a descriptor. At exit the number of calls
 * is written as a line to descriptor SHORTAGE_REPORT. Forked processes continue
 * to count, each separately; programs that they execute do not.
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

/* Forked processes end with this. */
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
    unsetenv("LD_PRELOAD"); /* for programs that it executes */
    scarce_begin(fds ? SCARCE_DESCRIPTORS : SCARCE_MEMORY,
                 strtoull(nth, NULL, 10), 1);
}
