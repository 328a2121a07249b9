/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forks of a process that uses the library. A child that does not use it exits
 * without affecting its parent. A child that is forked before the first use,
 * and a child that opens its own context, can use it.
 *
 *   forked LIBRARY: path of libucp.so.0
 */
#include "use.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Waits for the child, which must exit with status 0. */
static void expect_good_end(pid_t child, const char *what)
{
    int status;

    if ((child < 0) || (waitpid(child, &status, 0) != child)) {
        use_fail("%s: no child", what);
    }
    if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0)) {
        use_fail("%s: the child ended with status %#x", what, status);
    }
}

static int child_of_its_own(const char *path)
{
    use_t use;

    use_open(&use, path, RTLD_NOW | RTLD_LOCAL);
    use_talk(&use);
    use_close(&use);
    return 0;
}

int main(int argc, char **argv)
{
    pid_t child;
    use_t use;
    int i;

    if (argc != 2) {
        fprintf(stderr, "usage: forked LIBRARY\n");
        return 2;
    }

    child = fork();
    if (child == 0) {
        return child_of_its_own(argv[1]);
    }
    use_open(&use, argv[1], RTLD_NOW | RTLD_LOCAL);
    use_talk(&use);
    expect_good_end(child, "forked before the first use");

    for (i = 0; i < 5; ++i) {
        child = fork();
        if (child == 0) {
            exit(0); /* exit() runs the library's exit handlers */
        }
        use_talk(&use);
        expect_good_end(child, "leaves the library alone");

        child = fork();
        if (child == 0) {
            execl("/bin/true", "true", (char *)NULL);
            _exit(1);
        }
        use_talk(&use);
        expect_good_end(child, "becomes another program");

        child = fork();
        if (child == 0) {
            exit(child_of_its_own(argv[1]));
        }
        use_talk(&use);
        expect_good_end(child, "opens its own");
        use_talk(&use);
    }
    use_close(&use);
    printf("passed: forks before and after use\n");
    return 0;
}
