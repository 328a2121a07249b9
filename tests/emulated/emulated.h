/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions by which tests control an emulated driver: a library that replaces
 * a vendor's driver (CUDA, HIP, Level Zero) and needs no device. It also
 * reports mistakes: wrong uses of the vendor's interface by the program. A test
 * links the emulated driver, or finds these functions with dlsym().
 */
#ifndef EMULATED_H
#define EMULATED_H

#include <stddef.h>

/** Exit status that the emulated driver gives to a process with mistakes. A
 * resource that is not released at exit is a mistake. */
enum { EMULATED_EXIT_STATUS = 86 };

/** Returns the number of calls so far of the function `name` of the vendor's
 * interface; NULL: of all functions. */
unsigned long emulated_calls(const char *name);

/** Sets the time from the call that issues a copy or fill to its start, in
 * microseconds, in place of the environment variable EMULATED_DELAY. */
void emulated_set_delay(unsigned microseconds);

/** Delays all operations of streams until emulated_release() is called. */
void emulated_hold(void);
void emulated_release(void);

/* Makes the n-th call from now on of the function `name` return the error
 * `code`; with n = 0, every call. With the name "engine", lets the n-th copy
 * of the engines fail instead: the copy is not executed, and its context has
 * the error from then on. */
void emulated_fail(const char *name, unsigned n, int code);

/** Simulates the loss of a device: its contexts fail with `code`, operations in
 * flight are dropped, and no context can be created. With code 0, new contexts
 * can be created again. */
void emulated_lose(int device, int code);

/** Returns the number of mistakes so far. emulated_forgive() sets it to 0, for
 * tests that provoke mistakes. */
unsigned emulated_mistakes(void);
void emulated_forgive(void);

/** Returns an address at which the processor can access the `length` bytes of
 * device memory at `address`; NULL: the driver has not allocated it. */
void *emulated_view(const void *address, size_t length);

#endif
