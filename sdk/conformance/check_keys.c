/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule 17 of sdk/ABI.md for remote keys: truncated keys, also exported ones,
 * are rejected. Unpacking a key with an inverted bit, or random bytes, reads
 * nothing beyond the bytes. Such a key may be accepted, since only its use
 * shows that it is wrong.
 */
#include "check.h"
#include "guard.h"
#include "memory.h"
#include "plugin.h"
#include "slots.h"

#include <stdlib.h>
#include <string.h>

#define KEY_MAX     65536
#define FLIPS_MAX   4096
#define RANDOM_KEYS 256

typedef struct key_test {
    run_t *run;
    uct_component_h component;
    uct_md_h md;
    const char *md_name;
    guard_t guard;
    unsigned char *good; /* A valid packed key of `size` bytes */
    size_t size;
    /* Bytes of another kind of key; 0: there is none. A key that is cut to them
     * may be valid as that kind */
    size_t other_size;
    unsigned tested; /* Number of keys that were unpacked */
} key_test_t;

/* Unpacks the bytes and releases the result. */
static ucs_status_t try_key(key_test_t *test, const void *bytes, size_t size)
{
    uct_rkey_bundle_t key;
    ucs_status_t status;

    ++test->tested;
    status = slots_rkey_unpack(test->component, test->md,
                               guard_place(&test->guard, bytes, size), size,
                               &key);
    if (status == UCS_OK) {
        uct_rkey_release(test->component, &key);
    }
    return status;
}

static void try_cut(key_test_t *test)
{
    size_t size;

    for (size = 0; size < test->size; ++size) {
        if ((size > 0) && (size == test->other_size)) {
            continue;
        }
        check_doing(test->run, "unpacking a key of %s cut to %zu of %zu bytes",
                    test->md_name, size, test->size);
        if (!check_that(test->run, 17,
                        try_key(test, test->good, size) != UCS_OK,
                        "domain %s: a key cut to %zu of %zu bytes is unpacked",
                        test->md_name, size, test->size)) {
            break;
        }
    }
}

static void try_turned(key_test_t *test)
{
    size_t bits = test->size * 8, bit;
    size_t step = (bits > FLIPS_MAX) ? bits / FLIPS_MAX : 1;

    for (bit = 0; bit < bits; bit += step) {
        check_doing(test->run, "unpacking a key of %s with bit %zu turned",
                    test->md_name, bit);
        test->good[bit / 8] ^= (unsigned char)(1u << (bit % 8));
        try_key(test, test->good, test->size);
        test->good[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    }
}

static void try_random(key_test_t *test, unsigned char *bytes)
{
    unsigned seed = 1, round;
    size_t i;

    for (round = 0; round < RANDOM_KEYS; ++round) {
        for (i = 0; i < test->size; ++i) {
            bytes[i] = (unsigned char)rand_r(&seed);
        }
        check_doing(test->run, "unpacking random bytes %u as a key of %s",
                    round, test->md_name);
        try_key(test, bytes, test->size);
    }
}

static void try_all(key_test_t *test)
{
    unsigned char *bytes = malloc(test->size);

    if (bytes == NULL) {
        check_fail(test->run, 17, "out of memory");
        return;
    }
    try_cut(test);
    try_turned(test);
    try_random(test, bytes);
    free(bytes);
    check_that(test->run, 17, try_key(test, test->good, test->size) == UCS_OK,
               "domain %s: the good key is not unpacked any more after broken "
               "ones",
               test->md_name);
}

/* Checks that the slot mem_attach rejects truncated exported keys. */
static void check_exported(run_t *run, uct_md_h md, const char *md_name,
                           const memory_t *memory)
{
    size_t size = slots_md_attr(md).exported_mkey_packed_size, cut;
    uct_mem_h attached;
    char *good = calloc(1, size);
    guard_t guard;

    if ((good == NULL) || !guard_open(&guard, KEY_MAX)) {
        free(good);
        return;
    }

    check_doing(run, "exporting a key of %s", md_name);
    if (md->ops->mkey_pack(md, memory->memh, NULL, SIZE_MAX,
                           UCX_MKEY_PACK_EXPORT, good) == UCS_OK) {
        for (cut = 0; cut < size; ++cut) {
            check_doing(run, "attaching to an exported key cut to %zu bytes",
                        cut);
            if (!check_that(run, 17,
                            md->ops->mem_attach(md,
                                                guard_place(&guard, good, cut),
                                                cut, &attached) != UCS_OK,
                            "domain %s attaches to an exported key cut to %zu "
                            "of %zu bytes",
                            md_name, cut, size)) {
                break;
            }
        }
    }
    guard_close(&guard);
    free(good);
}

/* Tests the keys that `pack` has packed: `size` bytes. */
static void check_kind(key_test_t *test, size_t size, size_t other_size,
                       ucs_status_t (*pack)(uct_md_h md, uct_mem_h memh,
                                            void *buffer),
                       uct_mem_h memh, const char *kind)
{
    test->size       = size;
    test->other_size = other_size;
    test->good       = calloc(1, size);
    if ((test->good != NULL) && guard_open(&test->guard, KEY_MAX)) {
        if (check_that(test->run, 26,
                       pack(test->md, memh, test->good) == UCS_OK,
                       "domain %s: no %s is packed", test->md_name, kind)) {
            try_all(test);
        }
        guard_close(&test->guard);
    }
    free(test->good);
}

static ucs_status_t pack_process_key(uct_md_h md, uct_mem_h memh, void *buffer)
{
    return md->ops->mkey_pack(md, UCT_MEM_HANDLE_NULL, NULL, 0,
                              UCX_MKEY_PACK_PROCESS, buffer);
}

static void check_md_keys(run_t *run, uct_component_h component,
                          const char *component_name, const char *md_name,
                          void *arg)
{
    key_test_t test  = {.run = run, .component = component, .md_name = md_name};
    unsigned *tested = arg;
    uct_md_h md      = plugin_open_md(run, component, md_name);
    ucx_md_attr_t attr;
    memory_t memory;

    if (md == NULL) {
        return;
    }

    attr    = slots_md_attr(md);
    test.md = md;
    if ((attr.rkey_packed_size == 0) || (attr.rkey_packed_size > KEY_MAX) ||
        !memory_is_possible(md)) {
        goto out_md;
    }
    if (!check_that(run, 26, memory_get(md, 4096, &memory) == UCS_OK,
                    "domain %s: 4096 bytes cannot be registered", md_name)) {
        goto out_md;
    }

    check_kind(&test, attr.rkey_packed_size, attr.process_key_packed_size,
               uct_md_mkey_pack, memory.memh, "key");
    if ((attr.process_key_packed_size > 0) &&
        (attr.process_key_packed_size <= KEY_MAX)) {
        check_kind(&test, attr.process_key_packed_size, 0, pack_process_key,
                   UCT_MEM_HANDLE_NULL, "process key");
    }

    if (attr.flags & UCT_MD_FLAG_EXPORTED_MKEY) {
        check_exported(run, md, md_name, &memory);
    }
    memory_put(&memory);
    *tested += test.tested;
out_md:
    uct_md_close(md);
}

void check_keys(run_t *run)
{
    unsigned tested = 0;

    if ((plugin_load(run) != NULL) &&
        plugin_for_each_md(run, check_md_keys, &tested) && (tested == 0)) {
        check_skip(run, "its remote keys are empty");
    }
}
