/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A memory domain of posix or sysv, opened without the core library (libuct):
 * these functions call the plugin as that library would.
 */
#ifndef SHM_TEST_MD_SIDE_H
#define SHM_TEST_MD_SIDE_H

#include "seg_side.h"
#include "md.h"

typedef struct side {
    shm_instance_t instance;
    shm_component_t component;
    const ucx_md_ops_t *ops;
    uct_md_h md;
} side_t;

/* Opens a domain. `which`: SHM_POSIX or SHM_SYSV. */
void side_open(side_t *side, int which);
void side_close(side_t *side);

/* Call the functions of the domain and of the component with corresponding
 * names (side_alloc(): mem_alloc). */
ucs_status_t side_alloc(side_t *side, size_t *length, void **address,
                        unsigned flags, uct_mem_h *memh);
void side_free(side_t *side, uct_mem_h memh);
ucs_status_t side_reg(side_t *side, void *address, size_t length,
                      uct_mem_h *memh);
ucs_status_t side_dereg(side_t *side, uct_mem_h memh);
/* Packs a key of SHM_KEY_LENGTH bytes for all of the memory of `memh`. */
void side_pack(side_t *side, uct_mem_h memh, uint8_t *key);
ucs_status_t side_unpack(side_t *side, const void *key, size_t length,
                         uct_rkey_t *rkey);
void side_release(side_t *side, uct_rkey_t rkey);

/* Description of one process's memory, sent to the other process. */
typedef struct offer {
    uint64_t address; /* In the process that allocated it */
    uint64_t length;  /* In bytes */
    uint8_t key[SHM_KEY_LENGTH];
} offer_t;

/* Runs the tests, each with both components: the loop variable _i is SHM_POSIX
 * or SHM_SYSV. */
int side_run(const char *name, const void *tests, unsigned num);

#define SIDE_RUN(_name, ...) \
    int main(void) \
    { \
        const TTest *const tests[] = {__VA_ARGS__}; \
        return side_run(_name, tests, sizeof(tests) / sizeof(tests[0])); \
    }

#endif
