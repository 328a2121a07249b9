/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library that makes one allocation fail in a program that was not built with
 * scarce.c. It is loaded with LD_PRELOAD and reads environment variables:
 * - SHORTAGE_NTH: number of the allocation that fails, from 1; 0: none fails.
 *   Without this variable the library does nothing.
 * - SHORTAGE_WHAT: "descriptors": allocations of descriptors are counted and
 *   fail; otherwise those of memory.
 * - SHORTAGE_REPORT: number of an open descriptor. At exit the process writes
 *   the number of counted calls to it, as one line.
 *
 * A child of fork() starts with the count of its parent, continues to count
 * separately, and writes a line of its own. Programs that the process executes
 * do not load the library.
 */
#include "scarce.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int report = -1; /* SHORTAGE_REPORT; -1: no line is to be written */

static void tell(void)
{
    uint64_t calls = scarce_end();

    if (report >= 0) {
        dprintf(report, "%llu\n", (unsigned long long)calls);
        report = -1;
    }
}

/* Replaces the C library's function. A child of fork() often ends with _exit(),
 * which does not call the functions of atexit(): the line is written here. */
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
    unsetenv("LD_PRELOAD"); /* executed programs must not load this library */
    scarce_begin(fds ? SCARCE_DESCRIPTORS : SCARCE_MEMORY,
                 strtoull(nth, NULL, 10), 1);
}
