/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of emulated.h for programs that do not link the emulated
 * driver: tests of Level Zero link the real loader, which loads the emulated
 * driver (ZE_ENABLE_ALT_DRIVERS). Each function calls the function of the same
 * name in that driver.
 */
#include "emulated.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *find(const char *name)
{
    static void *driver;
    const char *path = getenv("ZE_ENABLE_ALT_DRIVERS");
    void *function;

    if ((driver == NULL) && (path != NULL)) {
        driver = dlopen(path, RTLD_NOW);
    }
    function = (driver == NULL) ? NULL : dlsym(driver, name);
    if (function == NULL) {
        fprintf(stderr, "ZE_ENABLE_ALT_DRIVERS names no emulated driver\n");
        abort();
    }
    return function;
}

/* Calls the driver's function `_name`. */
#define CALL(_name, _type, ...) ((_type)find(#_name))(__VA_ARGS__)

unsigned long emulated_calls(const char *name)
{
    return CALL(emulated_calls, unsigned long (*)(const char *), name);
}

void emulated_set_delay(unsigned microseconds)
{
    CALL(emulated_set_delay, void (*)(unsigned), microseconds);
}

void emulated_hold(void)
{
    CALL(emulated_hold, void (*)(void));
}

void emulated_release(void)
{
    CALL(emulated_release, void (*)(void));
}

void emulated_fail(const char *name, unsigned n, int code)
{
    CALL(emulated_fail, void (*)(const char *, unsigned, int), name, n, code);
}

void emulated_lose(int device, int code)
{
    CALL(emulated_lose, void (*)(int, int), device, code);
}

unsigned emulated_mistakes(void)
{
    return CALL(emulated_mistakes, unsigned (*)(void));
}

void emulated_forgive(void)
{
    CALL(emulated_forgive, void (*)(void));
}

void *emulated_view(const void *address, size_t length)
{
    return CALL(emulated_view, void *(*)(const void *, size_t), address,
                length);
}
