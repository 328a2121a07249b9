/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two processes in the tests of IPC, the access to memory of another
 * process. The test process forks the owner. The owner allocates device memory,
 * and executes orders that the test process sends over a socket. Each process
 * has an open interface of the IPC transport of the UCX plugin under test
 * (plugins/cuda, rocm or ze), which uses an emulated driver (tests/emulated).
 */
#ifndef TEST_CUDA_IPC_OWNER_H
#define TEST_CUDA_IPC_OWNER_H

#include <check.h>
#include <sys/types.h>
#include <uct/api/uct.h>

#include <device.h>

enum {
    LENGTH      = 100000, /* Bytes of memory that each ALLOCATE exports */
    MAX_KEY     = 256,    /* Maximum bytes of a packed key */
    MAX_ADDRESS = 64,     /* Maximum bytes of an address */
};

#define ck_ok(_call) ck_assert_int_eq((_call), UCS_OK)

typedef enum {
    ALLOCATE,      /* Allocate memory, fill it, and export it */
    REGISTER,      /* Export memory that is already allocated, once more */
    RELEASE,       /* Free memory */
    READ,          /* Answer with the last byte of memory */
    REPLACE_IFACE, /* Open a second interface, then close the first one */
    QUIT,          /* Exit; the owner sends no answer */
} order_kind_t;

typedef enum {
    PLAIN,        /* From the driver's ordinary allocation function */
    BY_FD,        /* The test process opens it by a file descriptor; the same
                   * as PLAIN if the driver does not support this */
    SHARED,       /* From a pool that can be exported; the same as PLAIN if the
                   * driver has no such pool */
    UNEXPORTABLE, /* Cannot be exported; the owner frees it before it answers */
} memory_kind_t;

typedef struct {
    order_kind_t kind;
    memory_kind_t memory; /* ALLOCATE: the kind of memory */
    /* REGISTER, RELEASE, READ: address of the memory. ALLOCATE with BY_FD:
     * address of the memory to replace; 0: the driver selects the address. */
    uint64_t address;
    char value; /* ALLOCATE: value to which all bytes are set */
} order_t;

/* The owner's answer to an order. */
typedef struct {
    /* ALLOCATE, REGISTER: result of the export; other orders: UCS_OK */
    ucs_status_t status;
    uint64_t address; /* ALLOCATE, REGISTER: address of the memory */
    char value;       /* READ: the last byte */
    /* Number of calls of DEVICE_EXPORT (device.h) by the owner so far */
    unsigned exports;
    /* ALLOCATE, REGISTER: packed key of the memory, if `status` is UCS_OK */
    char key[MAX_KEY];
} answer_t;

/* Addresses of an interface. */
typedef struct {
    char device[MAX_ADDRESS], iface[MAX_ADDRESS];
} addresses_t;

extern uct_component_h component; /* Of IPC; set by open_iface() */
extern uct_iface_h iface;         /* The interface that was opened last */
/* Process id of the owner, in the test process; a test that has killed the
 * owner sets this to 0 */
extern pid_t child;

/* Opens `iface`, and stores its addresses. */
void open_iface(addresses_t *addresses);
/* Closes all open interfaces. */
void close_iface(void);

/* Opens a second interface and stores it in `iface`. Returns the previous value
 * of `iface`, which stays open. */
uct_iface_h open_other_iface(void);
/* Closes the interface that was opened first. */
void close_first_iface(void);

/* Starts the owner. The test process calls this before open_iface(), because
 * the driver cannot be used in a child of a process that has started it. */
void fork_owner(void);
/* Waits for the addresses of the owner's interface. */
void owner_addresses(addresses_t *addresses);

/* Sends an order to the owner; returns the owner's answer. */
answer_t tell(order_kind_t kind, uint64_t address);
/* Sends the order ALLOCATE; order_t describes the parameters. */
answer_t allocate(memory_kind_t memory, uint64_t address, char value);

/* Ends the owner, and checks its exit status. Does neither if `child` is 0. */
void end_owner(void);

#endif
