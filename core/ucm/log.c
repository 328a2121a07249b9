/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of UCM. They do not use the logger of the other libraries: UCM is
 * below those libraries, and may run where memory allocation is not allowed.
 */
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ucm/internal.h"

static const char *const ucm_log_words[] = {"FATAL", "ERROR", "WARN", "DIAG",
                                            "INFO",  "DEBUG", "TRACE"};

void ucm_log(ucs_log_level_t level, const char *format, ...)
{
    const int num_words = sizeof(ucm_log_words) / sizeof(ucm_log_words[0]);
    char line[512];
    va_list ap;
    int length, more;

    if (level > ucm_opts()->log_level) {
        return;
    }

    length = snprintf(
        line, sizeof(line), "[%d] UCM  %s  ", (int)getpid(),
        ucm_log_words[((int)level < num_words) ? (int)level : num_words - 1]);
    va_start(ap, format);
    more = vsnprintf(line + length, sizeof(line) - (size_t)length, format, ap);
    va_end(ap);

    length += (more < 0) ? 0 : more;
    if (length > (int)sizeof(line) - 1) {
        length = (int)sizeof(line) - 1;
    }
    line[length] = '\n';
    /* not write(), which is a cancellation point: a thread that is cancelled
     * here would keep locks of UCM */
    (void)syscall(SYS_write, STDERR_FILENO, line, (size_t)length + 1);
}
