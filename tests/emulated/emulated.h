/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the emulated driver offers to tests beside the vendor's interface. A test
 * links the emulated library, or finds these functions with dlsym().
 */
#ifndef EMULATED_H
#define EMULATED_H

#include <stddef.h>

/** Exit status of a process whose calls were wrong, or that leaked. */
enum { EMULATED_EXIT_STATUS = 86 };

/** How often a call of the vendor's interface was made; NULL: all of them. */
unsigned long emulated_calls(const char *name);

/** Microseconds that each copy takes at least. Overrides EMULATED_DELAY. */
void emulated_set_delay(unsigned microseconds);

/** Copies that were issued stay where they are until they are released. */
void emulated_hold(void);
void emulated_release(void);

/** The n-th next call of `name` returns `code`; with n = 0 all of them. The name
 *  "engine" stands for copies that the engine carries out: the copy is not made,
 *  and its context has that error from then on. */
void emulated_fail(const char *name, unsigned n, int code);

/** Mistakes of the caller so far; and forgets them, for tests of the checks. */
unsigned emulated_mistakes(void);
void emulated_forgive(void);

/** Device memory as the processor can touch it; NULL: not known. */
void *emulated_view(const void *address, size_t length);

#endif
