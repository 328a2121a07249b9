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

/** Number of calls of a function of the vendor's interface; NULL: of all. */
unsigned long emulated_calls(const char *name);

/** Sets the minimum duration of a copy in microseconds. Overrides
 * EMULATED_DELAY. */
void emulated_set_delay(unsigned microseconds);

/** Holds issued copies until emulated_release(). */
void emulated_hold(void);
void emulated_release(void);

/** The n-th next call of `name` returns `code`; with n = 0 all of them.
 * "engine" means the copies of the engine: the copy is not executed, and its
 * context has that error from then on. */
void emulated_fail(const char *name, unsigned n, int code);

/** The device is lost: its contexts fail with `code`, operations under way never
 * complete, and no context can be created. With code 0 new contexts can be created
 * again. */
void emulated_lose(int device, int code);

/** Number of the caller's mistakes; the second function resets it, for tests of
 * the checks. */
unsigned emulated_mistakes(void);
void emulated_forgive(void);

/** Returns an address at which the processor can access device memory; NULL:
 * unknown. */
void *emulated_view(const void *address, size_t length);

#endif
