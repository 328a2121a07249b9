/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The owner: a second process in the tests of IPC, which owns memory and
 * executes the orders of the test. Both processes have an interface.
 */
#ifndef TEST_CUDA_IPC_OWNER_H
#define TEST_CUDA_IPC_OWNER_H

#include <check.h>
#include <sys/types.h>
#include <uct/api/uct.h>

#include <device.h>

enum {
    LENGTH      = 100000,
    MAX_KEY     = 256,
    MAX_ADDRESS = 64,
};

#define ck_ok(_call) ck_assert_int_eq((_call), UCS_OK)

typedef enum {
    ALLOCATE,
    REGISTER,
    RELEASE,
    READ,
    REPLACE_IFACE,
    QUIT,
} order_kind_t;

typedef enum {
    PLAIN,
    BY_FD,        /* Opened by a descriptor, if the driver supports this */
    SHARED,       /* From a pool that can be exported */
    UNEXPORTABLE, /* Cannot be exported; the owner releases it at once */
} memory_kind_t;

typedef struct {
    order_kind_t kind;
    memory_kind_t memory; /* For ALLOCATE */
    /* ALLOCATE of BY_FD: address of the memory to replace, or 0 */
    uint64_t address;
    char value; /* ALLOCATE: value of all bytes */
} order_t;

/* The owner's answer to an order; for ALLOCATE with what the test needs to
 * access the memory. */
typedef struct {
    ucs_status_t status;
    uint64_t address;
    char value; /* READ: the last byte */
    /* Number of exports by descriptor since the start of the owner */
    unsigned exports;
    char key[MAX_KEY];
} answer_t;

typedef struct {
    char device[MAX_ADDRESS], iface[MAX_ADDRESS];
} addresses_t;

extern uct_component_h component;
extern uct_iface_h iface;
extern pid_t child; /* Process id of the owner, in the test; 0: it was killed */

void open_iface(addresses_t *addresses);
void close_iface(void);

/* Opens another interface, which `iface` is from now on; returns the first
 * one. */
uct_iface_h open_other_iface(void);
void close_first_iface(void);

/* fork_owner() starts the owner, and must be called before open_iface().
 * owner_addresses() returns the addresses of its interface. */
void fork_owner(void);
void owner_addresses(addresses_t *addresses);

/* Sends an order to the owner; returns its answer. */
answer_t tell(order_kind_t kind, uint64_t address);
/* Makes the owner allocate memory whose bytes are `value`. */
answer_t allocate(memory_kind_t memory, uint64_t address, char value);

/* Ends the owner, and checks its exit status unless it was killed. */
void end_owner(void);

#endif
