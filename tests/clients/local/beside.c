/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two libraries libucp with the same symbols in one process, used in turn. The
 * first is loaded with RTLD_GLOBAL, the second with RTLD_LOCAL.
 *
 *   beside FIRST SECOND: paths of two libucp.so.0
 *   beside LIBRARY: loads and unloads one libucp.so.0 repeatedly
 */
#include "use.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int alone(const char *path)
{
    use_t use;
    int i;

    for (i = 0; i < 20; ++i) {
        use_open(&use, path, RTLD_NOW | RTLD_LOCAL);
        use_talk(&use);
        use_close(&use);
    }
    printf("passed: loaded by hand, %d times\n", i);
    return 0;
}

int main(int argc, char **argv)
{
    use_t first, second;
    int i;

    if (argc == 2) {
        return alone(argv[1]);
    } else if (argc != 3) {
        fprintf(stderr, "usage: beside FIRST [SECOND]\n");
        return 2;
    }
    use_open(&first, argv[1], RTLD_NOW | RTLD_GLOBAL);
    use_open(&second, argv[2], RTLD_NOW | RTLD_LOCAL);
    if (strcmp(first.ucp_get_version_string(),
               second.ucp_get_version_string()) == 0) {
        use_fail("both say that they are %s", first.ucp_get_version_string());
    }
    for (i = 0; i < 10; ++i) {
        use_talk(&first);
        use_talk(&second);
    }
    printf("passed: %s beside %s\n", first.ucp_get_version_string(),
           second.ucp_get_version_string());
    use_close(&second);
    use_talk(&first);
    use_close(&first);
    return 0;
}
