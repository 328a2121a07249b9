/* SPDX-License-Identifier: BSD-3-Clause */
/* System properties, and strings. Files are in file.c. */
#include "ucs/sys/sys.h"

#include <ucs/sys/string.h>

#include <errno.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_once_t names_once = PTHREAD_ONCE_INIT;
static char host_name[UCS_HOST_NAME_MAX];
static char exe_path[4096];

static void names_init(void)
{
    ssize_t length;

    if (gethostname(host_name, sizeof(host_name) - 1) != 0) {
        strcpy(host_name, "localhost");
    }

    length = readlink("/proc/self/exe", exe_path, sizeof(exe_path) - 1);
    exe_path[(length > 0) ? length : 0] = '\0';
}

size_t ucs_get_page_size(void)
{
    static size_t page_size; /* atomic */
    size_t size = __atomic_load_n(&page_size, __ATOMIC_RELAXED);

    if (ucs_unlikely(size == 0)) {
        size = (size_t)sysconf(_SC_PAGESIZE);
        __atomic_store_n(&page_size, size, __ATOMIC_RELAXED);
    }

    return size;
}

size_t ucs_get_huge_page_size(void)
{
    size_t kilobytes = 0;
    char line[256];
    FILE *file;

    file = fopen("/proc/meminfo", "re");
    if (file == NULL) {
        return 0;
    }

    while (fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "Hugepagesize: %zu kB", &kilobytes) == 1) {
            break;
        }
    }

    fclose(file);
    return kilobytes * 1024;
}

size_t ucs_get_phys_mem_size(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);

    return (pages < 0) ? SIZE_MAX : (size_t)pages * ucs_get_page_size();
}

const char *ucs_get_host_name(void)
{
    pthread_once(&names_once, names_init);
    return host_name;
}

const char *ucs_get_exe_path(void)
{
    pthread_once(&names_once, names_init);
    return exe_path;
}

const char *ucs_get_exe_name(void)
{
    const char *path  = ucs_get_exe_path();
    const char *slash = strrchr(path, '/');

    return (slash == NULL) ? path : slash + 1;
}

pid_t ucs_get_tid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

int ucs_sys_is_secure(void)
{
    return getauxval(AT_SECURE) != 0;
}

void ucs_get_user_name(char *buf, size_t max)
{
    struct passwd entry, *found = NULL;
    char text[1024];

    if ((getpwuid_r(geteuid(), &entry, text, sizeof(text), &found) == 0) &&
        (found != NULL)) {
        ucs_strncpy_zero(buf, entry.pw_name, max);
    } else {
        snprintf(buf, max, "%u", (unsigned)geteuid());
    }
}

/* Returns the text that replaces '%' and this letter in a file name, or NULL if
 * the letter has no meaning. `buf` may be used for the text. */
static const char *template_value(char letter, char *buf, size_t max)
{
    struct tm tm;
    time_t now;

    switch (letter) {
    case 'p':
        snprintf(buf, max, "%d", (int)getpid());
        return buf;
    case 'h':
        return ucs_get_host_name();
    case 'e':
        return ucs_get_exe_name();
    case 'u':
        ucs_get_user_name(buf, max);
        return buf;
    case 't':
        now = time(NULL);
        localtime_r(&now, &tm);
        strftime(buf, max, "%Y-%m-%d-%H-%M-%S", &tm);
        return buf;
    case '%':
        return "%";
    default:
        return NULL;
    }
}

ucs_status_t ucs_fill_filename_template(const char *tmpl, char *buf, size_t max)
{
    size_t length = 0;
    const char *value;
    char text[256];
    size_t bytes;

    while (*tmpl != '\0') {
        value = (tmpl[0] == '%') ? template_value(tmpl[1], text, sizeof(text)) :
                                   NULL;
        bytes = (value == NULL) ? 1 : strlen(value);
        if (length + bytes >= max) {
            return UCS_ERR_BUFFER_TOO_SMALL;
        }

        memcpy(buf + length, (value == NULL) ? tmpl : value, bytes);
        length += bytes;
        tmpl += (value == NULL) ? 1 : 2;
    }

    if (length >= max) {
        return UCS_ERR_BUFFER_TOO_SMALL;
    }

    buf[length] = '\0';
    return UCS_OK;
}

ucs_status_t ucs_errno_to_status(int sys_errno)
{
    switch (sys_errno) {
    case 0:
        return UCS_OK;
    case EAGAIN:
    case EINTR:
    case ENOBUFS:
        return UCS_ERR_NO_RESOURCE;
    case ENOMEM:
        return UCS_ERR_NO_MEMORY;
    case EINVAL:
    case EBADF:
    case EFAULT:
        return UCS_ERR_INVALID_PARAM;
    case EINPROGRESS:
        return UCS_INPROGRESS;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
    case EHOSTDOWN:
        return UCS_ERR_UNREACHABLE;
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
    case EDESTADDRREQ:
        return UCS_ERR_INVALID_ADDR;
    case EADDRINUSE:
    case EBUSY:
        return UCS_ERR_BUSY;
    case EEXIST:
        return UCS_ERR_ALREADY_EXISTS;
    case ENOENT:
    case ESRCH:
        return UCS_ERR_NO_ELEM;
    case ENODEV:
    case ENXIO:
        return UCS_ERR_NO_DEVICE;
    case ETIMEDOUT:
        return UCS_ERR_TIMED_OUT;
    case EMFILE:
    case ENFILE:
    case ENOSPC:
    case E2BIG:
        return UCS_ERR_EXCEEDS_LIMIT;
    case EOPNOTSUPP:
    case ENOSYS:
    case EPROTONOSUPPORT:
        return UCS_ERR_UNSUPPORTED;
    case ECONNREFUSED:
        return UCS_ERR_REJECTED;
    case ENOTCONN:
        return UCS_ERR_NOT_CONNECTED;
    case ECONNRESET:
    case ECONNABORTED:
    case EPIPE:
        return UCS_ERR_CONNECTION_RESET;
    case ECANCELED:
        return UCS_ERR_CANCELED;
    default:
        return UCS_ERR_IO_ERROR;
    }
}

char *ucs_strncpy_safe(char *dst, const char *src, size_t len)
{
    (void)ucs_strncpy_zero(dst, src, len);
    return dst;
}

int ucs_strncpy_zero(char *dest, const char *src, size_t max)
{
    size_t length = strnlen(src, max);
    int whole     = length < max;

    if (max == 0) {
        return 0;
    }

    length = whole ? length : max - 1;
    memcpy(dest, src, length);
    dest[length] = '\0';
    return whole;
}
