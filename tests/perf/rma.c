/* SPDX-License-Identifier: BSD-3-Clause */
/* Put and get: the time from the call until the data has arrived. The partner
 * offers memory, and progresses its worker until the driver has finished. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CALIBRATE_COUNT = 16,  /* Operations of a trial, for small sizes */
    LENT_BYTE       = 'l', /* Value of all bytes that the partner offers */
    PUT_BYTE        = 'p', /* Value of all bytes that the driver puts */
    PAGE            = 4096,
};

static const ucp_request_param_t no_param = {.op_attr_mask = 0};

/* Memory that the partner offers. */
struct loan {
    void *plain; /* The memory, if it is allocated here; otherwise NULL */
    void *address;
    ucp_mem_h memh;
    void *key; /* Packed remote key */
    size_t key_length;
};

/* The same memory in the driver: what it needs to access the memory. */
struct target {
    uint64_t address;
    ucp_rkey_h rkey;
};

/* Packs the remote key. Versions of the API before 1.15 have another function
 * for this. */
static void pack_key(struct bench *bench, struct loan *loan)
{
#if UCP_API_VERSION >= UCP_VERSION(1, 15)
    const ucp_memh_pack_params_t params = {.field_mask = 0};

    bench_check(ucp_memh_pack(loan->memh, &params, &loan->key,
                              &loan->key_length),
                "ucp_memh_pack");
    (void)bench;
#else
    bench_check(ucp_rkey_pack(bench->context, loan->memh, &loan->key,
                              &loan->key_length),
                "ucp_rkey_pack");
#endif
}

static void release_key(struct loan *loan)
{
#if UCP_API_VERSION >= UCP_VERSION(1, 15)
    const ucp_memh_buffer_release_params_t params = {.field_mask = 0};

    ucp_memh_buffer_release(loan->key, &params);
#else
    ucp_rkey_buffer_release(loan->key);
#endif
}

/* Partner: allocates and maps memory, fills it with LENT_BYTE, and packs its
 * key. */
static void lend(struct bench *bench, enum bench_memory memory, size_t size,
                 struct loan *loan)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .length = size,
    };
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};

    memset(loan, 0, sizeof(*loan));
    if (memory == BENCH_ALLOCATED) {
        params.flags = UCP_MEM_MAP_ALLOCATE;
    } else {
        /* The kernel accesses each page by itself, which takes 70 of 450 ns:
         * a few bytes must not cross a page by chance */
        loan->plain = aligned_alloc(PAGE, (size + PAGE - 1) & -(size_t)PAGE);
        if (loan->plain == NULL) {
            bench_fail("no memory to lend", "too large");
        }
        params.address = loan->plain;
    }
    bench_check(ucp_mem_map(bench->context, &params, &loan->memh),
                "ucp_mem_map");
    bench_check(ucp_mem_query(loan->memh, &attr), "ucp_mem_query");
    loan->address = attr.address;
    memset(loan->address, LENT_BYTE, size);
    bench_age_pages();
    pack_key(bench, loan);
}

static bool all_bytes(const char *memory, size_t size, char byte)
{
    return (memory[0] == byte) && (memcmp(memory, memory + 1, size - 1) == 0);
}

/* Partner: offers memory, and progresses until the driver has set rma_done.
 * Then sends the driver the value of all bytes of the memory, or 0 if they are
 * not equal. */
void rma_answer(struct bench *bench, const struct bench_command *command)
{
    struct loan loan;
    uint64_t address;
    char content = 0;

    lend(bench, command->window, command->size, &loan);
    address = (uintptr_t)loan.address;
    bench_put(bench, &address, sizeof(address));
    bench_put_blob(bench, loan.key, loan.key_length);
    while (
        !atomic_load_explicit(&bench->shared->rma_done, memory_order_acquire)) {
        ucp_worker_progress(bench->worker);
    }
    if (all_bytes(loan.address, command->size, *(char *)loan.address)) {
        content = *(char *)loan.address;
    }
    bench_put(bench, &content, sizeof(content));
    release_key(&loan);
    ucp_mem_unmap(bench->context, loan.memh);
    free(loan.plain);
}

/* Driver: requests memory of this kind (enum bench_memory) from the partner. */
static void borrow(struct bench *bench, uint64_t size, uint32_t memory,
                   struct target *target)
{
    uint64_t length;
    void *key;

    atomic_store(&bench->shared->rma_done, 0);
    bench_tell(bench, (struct bench_command){.kind   = BENCH_RMA,
                                             .size   = size,
                                             .window = memory});
    bench_get(bench, &target->address, sizeof(target->address));
    key = bench_get_blob(bench, &length);
    bench_check(ucp_ep_rkey_unpack(bench->ep, key, &target->rkey),
                "ucp_ep_rkey_unpack");
    free(key);
}

/* Driver: ends the use of the partner's memory. Returns the value of all of its
 * bytes, or 0 if they are not equal. */
static char give_back(struct bench *bench, struct target *target)
{
    char content;

    ucp_rkey_destroy(target->rkey);
    atomic_store(&bench->shared->rma_done, 1);
    bench_get(bench, &content, sizeof(content));
    return content;
}

/* Gets `count` times, one after the other; returns the seconds. */
static double get_many(struct bench *bench, const struct target *target,
                       uint64_t size, uint64_t count)
{
    double start = bench_now();
    uint64_t i;

    for (i = 0; i < count; ++i) {
        bench_wait(bench,
                   ucp_get_nbx(bench->ep, bench->buffer, size, target->address,
                               target->rkey, &no_param));
    }
    return bench_now() - start;
}

/* Puts `count` times, one after the other; returns the seconds. A flush follows
 * each put: only the end of the flush shows that the data has arrived. */
static double put_many(struct bench *bench, const struct target *target,
                       uint64_t size, uint64_t count)
{
    ucs_status_ptr_t put, flush;
    double start = bench_now();
    uint64_t i;

    for (i = 0; i < count; ++i) {
        put   = ucp_put_nbx(bench->ep, bench->buffer, size, target->address,
                            target->rkey, &no_param);
        flush = ucp_ep_flush_nbx(bench->ep, &no_param);
        bench_wait(bench, flush);
        bench_wait(bench, put);
    }
    return bench_now() - start;
}

typedef double (*many_t)(struct bench *bench, const struct target *target,
                         uint64_t size, uint64_t count);

/* Returns the time of one operation in us. */
static double time_of_one(struct bench *bench, const struct target *target,
                          uint64_t size, many_t many)
{
    uint64_t trials = bench_trial_count(size, CALIBRATE_COUNT), count;
    double trial;

    many(bench, target, size, trials);
    trial = many(bench, target, size, trials);
    count = bench_count_for(bench->seconds / 10, trial, trials);
    trial = many(bench, target, size, count);
    count = bench_count_for(bench->seconds, trial, count);
    return many(bench, target, size, count) * 1e6 / count;
}

/* Returns `value`. If wrong bytes have arrived (good is false), prints a
 * message and returns -1, so that the figure has no value. */
static double checked(double value, bool good, const char *what, uint64_t size)
{
    if (good) {
        return value;
    }
    fprintf(stderr,
            "ucp_bench: %s of %llu bytes: the bytes are not those that "
            "were sent; figure dropped\n",
            what, (unsigned long long)size);
    return -1;
}

double get_take(struct bench *bench, uint64_t size, uint32_t window)
{
    struct target target;
    double value;
    bool good;

    borrow(bench, size, window, &target);
    memset(bench->buffer, 0, size);
    value = time_of_one(bench, &target, size, get_many);
    give_back(bench, &target);
    good = all_bytes(bench->buffer, size, LENT_BYTE);
    memset(bench->buffer, 'b', size);
    return checked(value, good, "get", size);
}

double put_take(struct bench *bench, uint64_t size, uint32_t window)
{
    struct target target;
    double value;
    bool good;

    borrow(bench, size, window, &target);
    memset(bench->buffer, PUT_BYTE, size);
    value = time_of_one(bench, &target, size, put_many);
    good  = (give_back(bench, &target) == PUT_BYTE);
    memset(bench->buffer, 'b', size);
    return checked(value, good, "put", size);
}
