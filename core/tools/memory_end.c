/* SPDX-License-Identifier: BSD-3-Clause */
/* Exit of a tool when memory is exhausted; see memory_end.h. */
#include "memory_end.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *tool_name = "tool";
static int exit_code         = EXIT_FAILURE;

/* Reports the error and exits. The caller may be jansson with its locks held,
 * or any code after a failed allocation. So this function uses neither jansson
 * nor stdio, which may allocate. */
void memory_end(void)
{
    static const char text[] = ": out of memory\n";
    struct iovec words[]     = {
            {(char *)tool_name, strlen(tool_name)},
            {(char *)text, sizeof(text) - 1},
    };

    /* if the message cannot be written, the exit status still reports the
     * error */
    (void)!writev(STDERR_FILENO, words, 2);
    _exit(exit_code);
}

void memory_stream_close(FILE *stream, char *const *text_p)
{
    int failed = ferror(stream);

    if ((fclose(stream) != 0) || failed || (*text_p == NULL)) {
        memory_end();
    }
}

static void *allocate(size_t size)
{
    return memory_or_end(malloc(size));
}

void memory_end_begin(const char *name, int code)
{
    tool_name = name;
    exit_code = code;
    json_set_alloc_funcs(allocate, free);
}
