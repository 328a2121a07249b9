/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the emulated driver for tests, in addition to the vendor's
 * interface. A test links the emulated library, or finds these functions with
 * dlsym().
 */
#ifndef EMULATED_H
#define EMULATED_H

#include <stddef.h>

/** Exit status of a process with mistakes or leaks. */
enum { EMULATED_EXIT_STATUS = 86 };

/** Number of calls of the function `name` of the vendor's interface; NULL: of
 * all functions. */
unsigned long emulated_calls(const char *name);

/** Sets the minimum duration of a copy in microseconds. Overrides
 * EMULATED_DELAY. */
void emulated_set_delay(unsigned microseconds);

/** Delays all issued copies until emulated_release() is called. */
void emulated_hold(void);
void emulated_release(void);

/** Makes the n-th next call of `name` return `code`; with n = 0 every call.
 * "engine" as the name means a copy of the engine: that copy is not executed,
 * and its context has the error from then on. */
void emulated_fail(const char *name, unsigned n, int code);

/** Loses the device: its contexts fail with `code`, operations in flight never
 * complete, and no context can be created. With code 0 new contexts can be
 * created again. */
void emulated_lose(int device, int code);

/** Number of the caller's mistakes so far; emulated_forgive() resets it, for
 * tests that provoke mistakes. */
unsigned emulated_mistakes(void);
void emulated_forgive(void);

/** Returns an address at which the processor can access device memory; NULL:
 * unknown. */
void *emulated_view(const void *address, size_t length);

#endif
