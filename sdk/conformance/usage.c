/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads resource counts from /proc and from the C library. */
#include "usage.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned count_entries(const char *path)
{
    unsigned count = 0;
    struct dirent *entry;
    DIR *dir = opendir(path);

    if (dir == NULL) {
        return 0;
    }
    while ((entry = readdir(dir)) != NULL) {
        count += (entry->d_name[0] != '.');
    }
    closedir(dir);
    return count;
}

static size_t resident_bytes(void)
{
    unsigned long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL) {
        return 0;
    }
    if (fscanf(file, "%lu %lu", &total, &resident) != 2) {
        resident = 0;
    }
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

void usage_take(usage_t *usage)
{
    struct mallinfo2 info;

    usage->resident = resident_bytes();
    usage->tasks    = count_entries("/proc/self/task");
    /* count_entries() also counts the descriptor by which it reads the
     * folder */
    usage->fds      = count_entries("/proc/self/fd") - 1;
    info            = mallinfo2();
    usage->heap     = info.uordblks + info.hblkhd;
}

void usage_mark_fds(unsigned char *marks, size_t size)
{
    char path[48], link[8];
    size_t i;

    for (i = 0; i < size; ++i) {
        snprintf(path, sizeof(path), "/proc/self/fd/%zu", i);
        marks[i] = (readlink(path, link, sizeof(link)) >= 0);
    }
}

void usage_new_fds(const unsigned char *marks, size_t size, char *text,
                   size_t text_size)
{
    char path[48], link[128];
    size_t used = 0;
    ssize_t length;
    size_t i;

    text[0] = '\0';
    for (i = 0; (i < size) && (used < text_size); ++i) {
        snprintf(path, sizeof(path), "/proc/self/fd/%zu", i);
        length = readlink(path, link, sizeof(link) - 1);
        if ((length >= 0) && !marks[i]) {
            link[length] = '\0';
            used += (size_t)snprintf(text + used, text_size - used, " %s",
                                     link);
        }
    }
}
