/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory domains can be opened repeatedly, stay within the manifest, have
 * plausible attributes, and register memory from several threads.
 */
#include "check.h"
#include "clock.h"
#include "guard.h"
#include "memory.h"
#include "plugin.h"
#include "slots.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <ucs/sys/math.h>


#define KEY_MAX     65536
#define NUM_THREADS 4
#define SECONDS     0.2 /* Minimum duration of the rounds */
#define ROUNDS      20  /* Minimum number of rounds of each thread */

static void check_declared(run_t *run, const char *name,
                           const ucx_manifest_component_t *declared,
                           const ucx_md_attr_t *attr)
{
    uint64_t types, flags;

    /* A manifest cannot declare flags that have no word in its schema */
    flags = attr->flags & run->target->manifest->known.md & ~declared->md_flags;
    check_that(run, 10, flags == 0,
               "domain %s has capabilities that the "
               "manifest does not declare (UCT_MD_FLAG_* 0x%llx)",
               name, (unsigned long long)flags);

    types = (attr->reg_mem_types | attr->alloc_mem_types |
             attr->detect_mem_types) &
            ~declared->memory_types;
    check_that(run, 10, types == 0,
               "domain %s serves memory types that the "
               "manifest does not declare (bits 0x%llx)",
               name, (unsigned long long)types);
}

static void check_attr(run_t *run, const char *name, const ucx_md_attr_t *attr)
{
    const uint64_t flags = attr->flags;

    check_that(run, 25, !(flags & ~(UCT_MD_FLAG_LAST - 1)),
               "domain %s has flags without meaning", name);
    check_that(run, 25,
               !(flags & UCT_MD_FLAG_REG) ||
                   ((attr->max_reg > 0) && (attr->reg_mem_types != 0)),
               "domain %s can register, but max_reg or reg_mem_types is 0",
               name);
    check_that(run, 25,
               !(flags & UCT_MD_FLAG_ALLOC) ||
                   ((attr->max_alloc > 0) && (attr->alloc_mem_types != 0)),
               "domain %s can allocate, but max_alloc or alloc_mem_types is 0",
               name);
    check_that(run, 25,
               !(flags & UCT_MD_FLAG_NEED_RKEY) || (attr->rkey_packed_size > 0),
               "domain %s needs remote keys of 0 bytes", name);
    check_that(run, 25,
               !(flags & UCT_MD_FLAG_EXPORTED_MKEY) ||
                   (attr->exported_mkey_packed_size > 0),
               "domain %s exports keys of 0 bytes", name);
    check_that(run, 25,
               !(flags & UCT_MD_FLAG_INVALIDATE) || (flags & UCT_MD_FLAG_REG),
               "domain %s can invalidate, but not register", name);
    check_that(run, 25,
               (attr->rkey_packed_size <= KEY_MAX) &&
                   (attr->process_key_packed_size <= KEY_MAX) &&
                   (attr->exported_mkey_packed_size <= KEY_MAX),
               "domain %s packs keys of more than %d bytes", name, KEY_MAX);
    check_that(run, 25,
               (attr->reg_alignment == 0) || ucs_is_pow2(attr->reg_alignment),
               "domain %s: reg_alignment %zu is no power of two", name,
               attr->reg_alignment);
    check_that(run, 25,
               isfinite(attr->reg_cost.c) && isfinite(attr->reg_cost.m) &&
                   (attr->reg_cost.c >= 0) && (attr->reg_cost.m >= 0),
               "domain %s: reg_cost %g + %g * bytes is no cost", name,
               attr->reg_cost.c, attr->reg_cost.m);
    check_that(run, 25,
               !((attr->reg_nonblock_mem_types | attr->cache_mem_types) &
                 ~attr->reg_mem_types),
               "domain %s: reg_nonblock_mem_types or cache_mem_types has what "
               "reg_mem_types has not",
               name);
}

static size_t rkey_size(uct_md_h md)
{
    uct_md_attr_t attr;

    return (uct_md_query(md, &attr) == UCS_OK) ? attr.rkey_packed_size : 0;
}

/* Registers or allocates memory, packs and unpacks its key, and releases both.
 * Returns NULL, or a text that says what failed. */
static const char *use_memory(uct_component_h component, uct_md_h md,
                              size_t length, guard_t *guard)
{
    size_t key_size    = rkey_size(md);
    const char *failed = NULL;
    uct_rkey_bundle_t key;
    memory_t memory;
    void *packed;

    if (memory_get(md, length, &memory) != UCS_OK) {
        return "registering or allocating";
    }
    memset(memory.address, 0x11, length);

    if ((key_size > 0) && (memory.memh != UCT_MEM_HANDLE_NULL)) {
        packed = guard_place(guard, NULL, 0);
        packed = (char *)packed - key_size;
        if (uct_md_mkey_pack(md, memory.memh, packed) != UCS_OK) {
            failed = "packing the key";
        } else if (slots_rkey_unpack(component, md, packed, key_size, &key) !=
                   UCS_OK) {
            failed = "unpacking the key";
        } else if (uct_rkey_release(component, &key) != UCS_OK) {
            failed = "releasing the key";
        }
    }

    if ((memory_put(&memory) != UCS_OK) && (failed == NULL)) {
        failed = "deregistering or freeing";
    }
    return failed;
}

static void check_memory_use(run_t *run, uct_component_h component,
                             const char *name, uct_md_h md)
{
    static const size_t lengths[] = {1, 4095, 4096, 65539, 1 << 20};
    ucs_memory_type_t type;
    ucs_status_t status;
    const char *failed;
    guard_t guard;
    unsigned i;
    int local = 0;

    check_doing(run, "asking domain %s for the type of host memory", name);
    status = uct_md_detect_memory_type(md, &local, sizeof(local), &type);
    if (slots_md_attr(md).detect_mem_types == 0) {
        check_that(run, 26, status == UCS_ERR_UNSUPPORTED,
                   "domain %s detects no types of memory, and tells one: %s",
                   name, ucs_status_string(status));
    } else if (status == UCS_OK) {
        check_that(run, 26, type == UCS_MEMORY_TYPE_HOST,
                   "domain %s takes plain host memory for type %d", name,
                   (int)type);
    }

    if (!memory_is_possible(md) || !guard_open(&guard, KEY_MAX)) {
        return;
    }
    for (i = 0; i < ucs_static_array_size(lengths); ++i) {
        check_doing(run, "registering %zu bytes with domain %s", lengths[i],
                    name);
        failed = use_memory(component, md, lengths[i], &guard);
        check_that(run, 26, failed == NULL,
                   "domain %s: %s fails for %zu bytes "
                   "of host memory",
                   name, failed, lengths[i]);
    }
    guard_close(&guard);
}

/* --- Several threads ----------------------------------------------------- */

/* Synchronizes the threads: all start together, and a thread that has not
 * failed goes on until every other has done its rounds or failed, so that they
 * overlap on a busy machine. */
typedef struct meeting {
    atomic_uint arrived; /* Number of threads that have been started */
    atomic_int is_open;  /* The threads may start */
    atomic_uint busy;    /* Number of threads with rounds left that have not
                          * failed */
} meeting_t;

typedef struct hammer {
    meeting_t *meeting;
    uct_component_h component;
    uct_md_h md;
    const char *failed; /* What failed; NULL: nothing */
    pthread_t thread;
} hammer_t;

static void use_in_rounds(hammer_t *hammer, guard_t *guard)
{
    meeting_t *meeting = hammer->meeting;
    double end         = clock_now() + SECONDS;
    unsigned i;

    for (i = 0; (atomic_load(&meeting->busy) > 0) || (clock_now() < end); ++i) {
        if (i == ROUNDS) {
            atomic_fetch_sub(&meeting->busy, 1);
        }
        hammer->failed = use_memory(hammer->component, hammer->md,
                                    64 + (i % 256) * 16, guard);
        if (hammer->failed != NULL) {
            break;
        }
    }
    if (i < ROUNDS) {
        atomic_fetch_sub(&meeting->busy, 1); /* This thread has failed */
    }
}

static void *hammer_run(void *arg)
{
    hammer_t *hammer   = arg;
    meeting_t *meeting = hammer->meeting;
    guard_t guard;
    int has_guard = guard_open(&guard, KEY_MAX);

    atomic_fetch_add(&meeting->arrived, 1);
    while (!atomic_load(&meeting->is_open)) {
        sched_yield();
    }
    if (!has_guard) {
        hammer->failed = "finding memory";
        atomic_fetch_sub(&meeting->busy, 1);
        return NULL;
    }
    use_in_rounds(hammer, &guard);
    guard_close(&guard);
    return NULL;
}

static void check_threads(run_t *run, uct_component_h component,
                          const char *name, uct_md_h md)
{
    meeting_t meeting = {0};
    hammer_t hammers[NUM_THREADS];
    unsigned count, i;

    if (!memory_is_possible(md)) {
        return;
    }

    check_doing(run, "using domain %s from %d threads at once", name,
                NUM_THREADS);
    for (count = 0; count < NUM_THREADS; ++count) {
        hammers[count] = (hammer_t){&meeting, component, md, NULL, 0};
        if (pthread_create(&hammers[count].thread, NULL, hammer_run,
                           &hammers[count]) != 0) {
            break;
        }
    }

    while (atomic_load(&meeting.arrived) < count) {
        sched_yield();
    }
    atomic_store(&meeting.busy, count);
    atomic_store(&meeting.is_open, 1);
    for (i = 0; i < count; ++i) {
        pthread_join(hammers[i].thread, NULL);
        check_that(run, 14, hammers[i].failed == NULL,
                   "domain %s: %s fails when %d threads do so at once", name,
                   hammers[i].failed, NUM_THREADS);
    }
}

static void check_md(run_t *run, uct_component_h component,
                     const char *component_name, const char *md_name, void *arg)
{
    unsigned *count = arg;
    uct_md_h md, second;
    ucx_md_attr_t attr;

    ++*count;
    md = plugin_open_md(run, component, md_name);
    if (md == NULL) {
        return;
    }

    attr = slots_md_attr(md);
    check_declared(run, md_name,
                   ucx_manifest_component(run->target->manifest,
                                          component_name),
                   &attr);
    check_attr(run, md_name, &attr);
    check_memory_use(run, component, md_name, md);
    check_threads(run, component, md_name, md);

    second = plugin_open_md(run, component, md_name);
    check_doing(run, "closing the domain %s", md_name);
    uct_md_close(md);
    if (second != NULL) {
        check_memory_use(run, component, md_name, second);
        uct_md_close(second);
    }
}

void check_domains(run_t *run)
{
    unsigned count = 0;

    if ((plugin_load(run) != NULL) &&
        plugin_for_each_md(run, check_md, &count) && (count == 0)) {
        check_skip(run, "there is no memory domain here");
    }
}
