/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other process of the tests of IPC: it owns memory and executes the
 * requests of the test. Both sides have an interface.
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
    BY_FD,        /* Opened by a descriptor, where the driver has that */
    SHARED,       /* Of a pool that can be exported */
    UNEXPORTABLE, /* Is released at once */
} memory_kind_t;

typedef struct {
    order_kind_t kind;
    memory_kind_t memory; /* ALLOCATE */
    /* ALLOCATE, BY_FD: replace the memory there, or 0 */
    uint64_t address;
    char value; /* ALLOCATE: of all bytes */
} order_t;

/* How the parent reaches the memory. */
typedef struct {
    ucs_status_t status;
    uint64_t address;
    char value; /* READ: of the last byte */
    /* By descriptor, since the start */
    unsigned exports;
    char key[MAX_KEY];
} answer_t;

typedef struct {
    char device[MAX_ADDRESS], iface[MAX_ADDRESS];
} addresses_t;

extern uct_component_h component;
extern uct_iface_h iface;
extern pid_t child; /* The owner, for the test; 0: killed */

void open_iface(addresses_t *addresses);
void close_iface(void);

/* Opens another interface, `iface` from now on; returns the first one. */
uct_iface_h open_other_iface(void);
void close_first_iface(void);

/* Starts the owner and returns its addresses. Before open_iface(). */
void fork_owner(void);
void owner_addresses(addresses_t *addresses);

/* Has the owner execute an order. */
answer_t tell(order_kind_t kind, uint64_t address);
/* Has it allocate memory whose bytes are `value`. */
answer_t allocate(memory_kind_t memory, uint64_t address, char value);

/* Ends the owner and checks its status, unless it was killed. */
void end_owner(void);

#endif
