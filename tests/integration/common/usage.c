/* SPDX-License-Identifier: BSD-3-Clause */
/* See usage.h. */
#include "usage.h"

#include "check.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <malloc.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

unsigned usage_fds(void)
{
    DIR *dir       = opendir("/proc/self/fd");
    unsigned count = 0;
    struct dirent *entry;

    EXPECT(dir != NULL);
    while ((entry = readdir(dir)) != NULL) {
        count += (entry->d_name[0] != '.');
    }
    closedir(dir);
    return count - 1; /* without the descriptor of this listing */
}

void usage_show_fds(void)
{
    fflush(stderr);
    if (system("ls -l /proc/$PPID/fd >&2") != 0) {
        perror("ls");
    }
}

size_t usage_heap(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 0;
#else
    return mallinfo2().uordblks + mallinfo2().hblkhd;
#endif
}

/* Calls `each` for every line of /proc/self/maps; returns the sum of its
 * results. */
static unsigned count_mappings(unsigned (*each)(const char *line))
{
    FILE *maps     = fopen("/proc/self/maps", "r");
    unsigned count = 0;
    char line[512];

    EXPECT(maps != NULL);
    while (fgets(line, sizeof(line), maps) != NULL) {
        count += each(line);
    }
    fclose(maps);
    return count;
}

__attribute__((unused)) static unsigned is_any(const char *line)
{
    return line[0] != '\0';
}

/* Returns 1 for a line of /proc/self/maps with shared memory as transports
 * create it: System V, memfd or /dev/shm. */
static unsigned is_shared(const char *line)
{
    return (strstr(line, "/SYSV") != NULL) ||
           (strstr(line, "/memfd:") != NULL) ||
           (strstr(line, "/dev/shm/") != NULL);
}

static unsigned show_shared(const char *line)
{
    if (is_shared(line)) {
        fputs(line, stderr);
    }
    return 0;
}

unsigned usage_mappings(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 0;
#else
    return count_mappings(is_any);
#endif
}

unsigned usage_shared(void)
{
    return count_mappings(is_shared);
}

void usage_show_shared(void)
{
    count_mappings(show_shared);
}

static double seconds_of(struct timeval time)
{
    return time.tv_sec + (time.tv_usec * 1e-6);
}

double usage_cpu(void)
{
    struct rusage usage;

    EXPECT(getrusage(RUSAGE_SELF, &usage) == 0);
    return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

static bool listens(int fd, struct sockaddr_storage *address)
{
    struct sockaddr_in *v4  = (struct sockaddr_in *)address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;
    socklen_t length        = sizeof(*address);
    int on                  = 0;
    socklen_t size          = sizeof(on);

    if ((getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &size) != 0) || !on ||
        (getsockname(fd, (struct sockaddr *)address, &length) != 0)) {
        return false;
    }
    if (address->ss_family == AF_INET) {
        if (v4->sin_addr.s_addr == htonl(INADDR_ANY)) {
            v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        }
        return true;
    }
    if (address->ss_family == AF_INET6) {
        if (IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr)) {
            v6->sin6_addr = in6addr_loopback;
        }
        return true;
    }
    return false;
}

unsigned usage_listeners(struct sockaddr_storage *addresses, unsigned max)
{
    DIR *dir       = opendir("/proc/self/fd");
    unsigned count = 0;
    struct dirent *entry;

    EXPECT(dir != NULL);
    while (((entry = readdir(dir)) != NULL) && (count < max)) {
        if ((entry->d_name[0] != '.') &&
            listens(atoi(entry->d_name), &addresses[count])) {
            ++count;
        }
    }
    closedir(dir);
    return count;
}
