/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory handles and remote keys: what can be mapped, the attributes, the
 * packed form of keys and the rejection of damaged ones, pointers, order,
 * export.
 */
#include "rma.h"

#include "ucp/mem/packed.h"
#include "ucp/mem/range.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static local_t local;

static void open_local(void)
{
    local_open_mode(&local, UCP_FEATURE_RMA | UCP_FEATURE_EXPORTED_MEMH,
                    UCS_THREAD_MODE_SINGLE);
}

static ucs_status_t map(void *address, size_t length, unsigned flags,
                        ucp_mem_h *memh_p)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .address = address,
        .length  = length,
        .flags   = flags,
    };

    return ucp_mem_map(local.context, &params, memh_p);
}

static void expect_mapped(ucp_mem_h memh, void *address, size_t length)
{
    ucp_mem_attr_t attr = {
        .field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH |
                      UCP_MEM_ATTR_FIELD_MEM_TYPE,
    };

    ck_assert_int_eq(ucp_mem_query(memh, &attr), UCS_OK);
    if (address != NULL) {
        ck_assert_ptr_eq(attr.address, address);
    }
    ck_assert_uint_ge(attr.length, length);
    ck_assert_int_eq(attr.mem_type, UCS_MEMORY_TYPE_HOST);
    memset(attr.address, 'm', attr.length);
    ck_assert_int_eq(ucp_mem_unmap(local.context, memh), UCS_OK);
}

START_TEST(memory_is_mapped_by_the_table_of_the_api)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *fixed = mmap(NULL, 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);
    char own[100];
    ucp_mem_h memh;

    open_local();
    ck_assert_int_eq(map(NULL, 0, 0, &memh), UCS_OK);
    ck_assert_int_eq(ucp_mem_unmap(local.context, memh), UCS_OK);
    ck_assert_int_eq(map(NULL, 100, 0, &memh), UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(map(NULL, 100, UCP_MEM_MAP_ALLOCATE, &memh), UCS_OK);
    expect_mapped(memh, NULL, 100);
    ck_assert_int_eq(map(NULL, 5 << 20,
                         UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_NONBLOCK, &memh),
                     UCS_OK);
    expect_mapped(memh, NULL, 5 << 20);
    ck_assert_int_eq(map(own, sizeof(own), 0, &memh), UCS_OK);
    expect_mapped(memh, own, sizeof(own));
    ck_assert_int_eq(map(own, sizeof(own), UCP_MEM_MAP_FIXED, &memh),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(map(NULL, 100, UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_FIXED,
                         &memh),
                     UCS_ERR_INVALID_PARAM);

    munmap(fixed, 4 * page);
    ck_assert_int_eq(map(fixed, page, UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_FIXED,
                         &memh),
                     UCS_OK);
    expect_mapped(memh, fixed, page);
    ck_assert_int_eq(map(fixed + 1, page,
                         UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_FIXED, &memh),
                     UCS_ERR_INVALID_PARAM);
    local_close(&local);
}
END_TEST

static void expect_empty(ucp_mem_h memh)
{
    ucp_mem_attr_t attr = {
        .field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH |
                      UCP_MEM_ATTR_FIELD_MEM_TYPE,
        .address = &attr,
        .length  = 1,
    };
    ucp_rkey_h rkey;
    void *packed, *ptr;
    size_t length;

    ck_assert_int_eq(ucp_mem_query(memh, &attr), UCS_OK);
    ck_assert_ptr_null(attr.address);
    ck_assert_uint_eq(attr.length, 0);
    ck_assert_int_eq(attr.mem_type, UCS_MEMORY_TYPE_HOST);

    ck_assert_int_eq(ucp_rkey_pack(local.context, memh, &packed, &length),
                     UCS_OK);
    ck_assert_int_eq(ucp_ep_rkey_unpack(local.ep, packed, &rkey), UCS_OK);
    ucp_rkey_buffer_release(packed);
    ck_assert_int_eq(ucp_rkey_ptr(rkey, 0, &ptr), UCS_ERR_INVALID_ADDR);
    ucp_rkey_destroy(rkey);
    ck_assert_int_eq(ucp_mem_unmap(local.context, memh), UCS_OK);
}

START_TEST(a_handle_of_length_0_has_no_address)
{
    static const unsigned flags[] = {
        0,
        UCP_MEM_MAP_ALLOCATE,
        UCP_MEM_MAP_LOCK,
        UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_NONBLOCK,
        UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_LOCK,
    };
    char own[8];
    ucp_mem_h memh;
    size_t i;

    open_local();
    for (i = 0; i < sizeof(flags) / sizeof(flags[0]); ++i) {
        ck_assert_int_eq(map(NULL, 0, flags[i], &memh), UCS_OK);
        expect_empty(memh);
        ck_assert_int_eq(map(own, 0, flags[i], &memh), UCS_OK);
        expect_empty(memh);
    }
    local_close(&local);
}
END_TEST

START_TEST(misuse_is_refused)
{
    ucp_mem_map_params_t params = {.field_mask = 0};
    char own[100];
    void *gone = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ucp_mem_h memh;

    open_local();
    ck_assert_int_eq(ucp_mem_map(local.context, &params, &memh),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(map(own, SIZE_MAX, 0, &memh), UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(map(own, 100, UCP_MEM_MAP_NONBLOCK | UCP_MEM_MAP_LOCK,
                         &memh),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(map(own, 100, 1u << 20, &memh), UCS_ERR_INVALID_PARAM);
    ck_assert_int_lt(map(NULL, SIZE_MAX / 2 + 10, UCP_MEM_MAP_ALLOCATE, &memh),
                     UCS_OK);
    munmap(gone, 8192);
    ck_assert_int_eq(map(gone, 8192, 0, &memh), UCS_ERR_INVALID_ADDR);

    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                        UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                        UCP_MEM_MAP_PARAM_FIELD_PROT;
    params.address = own;
    params.length  = sizeof(own);
    params.prot    = 1u << 30;
    ck_assert_int_eq(ucp_mem_map(local.context, &params, &memh),
                     UCS_ERR_INVALID_PARAM);
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                        UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                        UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
    params.flags       = UCP_MEM_MAP_ALLOCATE;
    params.memory_type = UCS_MEMORY_TYPE_CUDA;
    ck_assert_int_eq(ucp_mem_map(local.context, &params, &memh),
                     UCS_ERR_UNSUPPORTED);
    local_close(&local);
}
END_TEST

static char *two_pages(void)
{
    return mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
}

static int is_resident(char *pages)
{
    unsigned char resident[2] = {0};

    ck_assert_int_eq(mincore(pages, 8192, resident), 0);
    return resident[0] & resident[1] & 1;
}

START_TEST(locked_memory_is_resident)
{
    char *own = two_pages(), *other = two_pages();
    ucp_mem_h memh;

    open_local();
    ck_assert_int_eq(is_resident(own), 0);
    ck_assert_int_eq(map(own, 8192, UCP_MEM_MAP_LOCK, &memh), UCS_OK);
    /* With sanitizers mlock() has no effect. Memory that the test locks itself
     * shows which result to expect. */
    ck_assert_int_eq(mlock(other, 8192), 0);
    ck_assert_int_eq(is_resident(own), is_resident(other));
    munmap(other, 8192);
    ck_assert_int_eq(ucp_mem_unmap(local.context, memh), UCS_OK);
    munmap(own, 8192);
    local_close(&local);
}
END_TEST

static unsigned num_unlocks; /* Calls of munlock() */

/* Replaces the function of the C library for the code under test. */
int munlock(const void *address, size_t length)
{
    ++num_unlocks;
    return (int)syscall(SYS_munlock, address, length);
}

START_TEST(only_locked_memory_is_unlocked)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                      UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
        .length      = 8192,
        .flags       = UCP_MEM_MAP_LOCK,
        .memory_type = UCS_MEMORY_TYPE_HOST,
    };
    char *own = two_pages();
    ucp_mem_h memh;

    open_local();
    params.address = own;
    num_unlocks    = 0;
    ck_assert_int_eq(ucp_mem_map(local.context, &params, &memh), UCS_OK);
    ck_assert_int_eq(ucp_mem_unmap(local.context, memh), UCS_OK);
    ck_assert_uint_eq(num_unlocks, 1);

    /* only the type says that the memory is of a device */
    params.memory_type = UCS_MEMORY_TYPE_CUDA;
    ck_assert_int_eq(ucp_mem_map(local.context, &params, &memh), UCS_OK);
    ck_assert_int_eq(ucp_mem_unmap(local.context, memh), UCS_OK);
    ck_assert_uint_eq(num_unlocks, 1);
    munmap(own, 8192);
    local_close(&local);
}
END_TEST

START_TEST(advice_is_taken_for_parts_of_the_memory_only)
{
    ucp_mem_advise_params_t params = {
        .field_mask = UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS |
                      UCP_MEM_ADVISE_PARAM_FIELD_LENGTH |
                      UCP_MEM_ADVISE_PARAM_FIELD_ADVICE,
        .advice = UCP_MADV_WILLNEED,
    };
    char own[5000];
    ucp_mem_h memh;

    open_local();
    ck_assert_int_eq(map(own, sizeof(own), 0, &memh), UCS_OK);
    params.address = own + 10;
    params.length  = 4000;
    ck_assert_int_eq(ucp_mem_advise(local.context, memh, &params), UCS_OK);
    params.length = 4991;
    ck_assert_int_eq(ucp_mem_advise(local.context, memh, &params),
                     UCS_ERR_INVALID_PARAM);
    params.length     = 10;
    params.field_mask = UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS;
    ck_assert_int_eq(ucp_mem_advise(local.context, memh, &params),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_mem_unmap(local.context, memh), UCS_OK);
    local_close(&local);
}
END_TEST

START_TEST(a_damaged_key_is_refused)
{
    unsigned char *key, *copy;
    ucp_rkey_h rkey;
    ucp_mem_h memh;
    size_t size, i;
    char own[64];
    int bit;

    open_local();
    ck_assert_int_eq(map(own, sizeof(own), 0, &memh), UCS_OK);
    ck_assert_int_eq(ucp_memh_pack(memh, NULL, (void **)&key, &size), UCS_OK);
    copy = malloc(size);
    for (i = 0; i < size; ++i) {
        for (bit = 0; bit < 8; ++bit) {
            memcpy(copy, key, size);
            copy[i] ^= (unsigned char)(1 << bit);
            ck_assert_int_eq(ucp_ep_rkey_unpack(local.ep, copy, &rkey),
                             UCS_ERR_INVALID_PARAM);
        }
    }
    free(copy);
    /* a truncated key, in memory of exactly the remaining size, so that
     * sanitizers detect reads beyond its end */
    for (i = 0; i < size; ++i) {
        ucp_packed_mem_t mem;

        copy = malloc(i + 1);
        memcpy(copy, key, i);
        copy = realloc(copy, i + (i == 0));
        ck_assert_int_eq(ucp_packed_read(copy, i, UCP_PACKED_RKEY, &mem),
                         UCS_ERR_INVALID_PARAM);
        free(copy);
    }
    ck_assert_int_eq(ucp_ep_rkey_unpack(local.ep, key, &rkey), UCS_OK);
    ucp_rkey_destroy(rkey);
    ucp_memh_buffer_release(key, NULL);
    ck_assert_int_eq(ucp_mem_unmap(local.context, memh), UCS_OK);
    local_close(&local);
}
END_TEST

/* Packed keys of invented components (ucp/mem/packed.h). Bytes that keys have
 * in common are packed once, and unpacking restores all keys. */
START_TEST(keys_of_components_come_back)
{
    static const uint64_t lengths[] = {
        0, 1, 255, 4096, 1ull << 20, 12345678, (1ull << 40) + 1,
    };
    uint8_t bytes[4][600], id[8];
    ucp_le64_t wire_id;
    ucp_packed_mem_t in = {.prot = UCP_MEM_PROT_ALL, .by_owner = 1}, out;
    size_t length, i, j;
    void *packed;

    srandom(1);
    for (i = 0; i < sizeof(bytes); ++i) {
        ((uint8_t *)bytes)[i] = (uint8_t)random();
    }
    for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); ++i) {
        in.id       = 0x0102030405060708ull * (i + 1);
        in.address  = 0x7fff12345000ull >> (8 * i);
        in.length   = lengths[i];
        in.num_keys = 4;
        wire_id     = ucp_le64(in.id);
        memcpy(id, &wire_id, sizeof(id));
        memcpy(bytes[1] + 50, id, sizeof(id));
        memcpy(bytes[2], bytes[1], 300);
        in.keys[0] = (ucp_packed_key_t){5, 0, id, 8};
        in.keys[1] = (ucp_packed_key_t){6, 1, bytes[1], 600};
        in.keys[2] = (ucp_packed_key_t){7, 9, bytes[2], 300};
        in.keys[3] = (ucp_packed_key_t){8, 10, bytes[3], 0};
        ck_assert_int_eq(ucp_packed_write(&in, UCP_PACKED_RKEY, &packed,
                                          &length),
                         UCS_OK);
        ck_assert_uint_lt(length, 700);
        ck_assert_int_eq(ucp_packed_read(packed, length, UCP_PACKED_RKEY, &out),
                         UCS_OK);
        ck_assert_uint_eq(out.id, in.id);
        ck_assert_uint_eq(out.address, in.address);
        ck_assert_uint_eq(out.length, in.length);
        ck_assert_uint_eq(out.num_keys, 4);
        for (j = 0; j < 4; ++j) {
            ck_assert_uint_eq(out.keys[j].code, in.keys[j].code);
            ck_assert_uint_eq(out.keys[j].md_index, in.keys[j].md_index);
            ck_assert_uint_eq(out.keys[j].length, in.keys[j].length);
            ck_assert_mem_eq(out.keys[j].bytes, in.keys[j].bytes,
                             in.keys[j].length);
        }
        ck_assert_int_eq(ucp_packed_read(packed, length, UCP_PACKED_EXPORTED,
                                         &out),
                         UCS_ERR_INVALID_PARAM);
        free(packed);
    }

    /* access rights, and memory that its owner's processor cannot access */
    in.num_keys = 0;
    in.prot     = UCP_MEM_MAP_PROT_LOCAL_WRITE | UCP_MEM_MAP_PROT_REMOTE_READ;
    in.by_owner = 0;
    in.mem_type = UCS_MEMORY_TYPE_CUDA;
    ck_assert_int_eq(ucp_packed_write(&in, UCP_PACKED_EXPORTED, &packed,
                                      &length),
                     UCS_OK);
    ck_assert_int_eq(ucp_packed_read(packed, length, UCP_PACKED_EXPORTED, &out),
                     UCS_OK);
    ck_assert_uint_eq(out.prot, in.prot);
    ck_assert_int_eq(out.by_owner, 0);
    ck_assert_int_eq(out.mem_type, UCS_MEMORY_TYPE_CUDA);
    free(packed);

    /* longer than the limit of a packed key */
    in.num_keys = 4;
    for (j = 0; j < 4; ++j) {
        in.keys[j] = (ucp_packed_key_t){5, (uint8_t)j, bytes[0], 600};
    }
    ck_assert_int_eq(ucp_packed_write(&in, UCP_PACKED_RKEY, &packed, &length),
                     UCS_ERR_EXCEEDS_LIMIT);
}
END_TEST

/* Address and length of memory are packed in the shortest encoding
 * (ucp/mem/range.h), and all 64-bit values can be packed. Each comment gives
 * the number of bits for the address + that for the length. "pages": the length
 * is packed in units of 4096 bytes. Addresses near 2^47 or 2^48, and not above,
 * are packed as the distance to that value. Multiples of 16 are packed without
 * their lowest 4 bits. */
START_TEST(ranges_of_memory_come_back)
{
    static const struct {
        uint64_t address, length;
        size_t size;
    } rows[] = {
        {0, 0, 6},                             /* 43 bits */
        {0x1001, 1, 6},                        /* 47 + 1 */
        {0x558b9d720dc0, 16777217, 9},         /* 43 + 25 */
        {0x558b9d720dc1, 16777217, 9},         /* 47 + 25 */
        {0x558b9d720dc0, 512 << 20, 8},        /* 43 + 18: pages */
        {0x7fa2d498e010, (4ull << 30) + 1, 9}, /* 37 + 33 */
        {0x7fa2d498e011, (1ull << 30) - 1, 9}, /* 41 + 30 */
        {0x7fa2d498e010, 16ull << 30, 8},      /* 37 + 23: pages */
        {0xffff8498e010, 12345678, 8},         /* 37 + 24 below 2^48 */
        {0xffff8498e011, 12345678, 9},         /* 41 + 24 below 2^48 */
        {1ull << 47, 1, 5},                    /* 37 + 1: 2^47 - address = 0 */
        {1ull << 62, 1, 9},                    /* 64 + 1 */
        {0x8000000000000001, (1ull << 56) - 1, 15},
        {0x8000000000000001, 1ull << 56, 14},
        {1, UINT64_MAX - 1, 16},
        {0, UINT64_MAX, 16},
        {5, 1ull << 63, 13},
        {0x8000000000000001, (1ull << 62) + 1, 16},
    };
    uint8_t bytes[UCP_RANGE_MAX], sizes;
    uint64_t address, length;
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        ck_assert_msg(ucp_range_pack(rows[i].address, rows[i].length, bytes,
                                     &sizes) == rows[i].size,
                      "row %zu: %zu bytes instead of %zu", i,
                      ucp_range_size(sizes), rows[i].size);
        ck_assert_uint_eq(sizes & ~UCP_RANGE_SIZES, 0);
        ck_assert_uint_eq(ucp_range_size(sizes), rows[i].size);
        ck_assert_int_ne(ucp_range_unpack(sizes, bytes, &address, &length), 0);
        ck_assert_uint_eq(address, rows[i].address);
        ck_assert_uint_eq(length, rows[i].length);
    }
}
END_TEST

/* Encodings that a faulty or hostile peer could send: every value of `sizes`,
 * followed by bytes that are all 0 or all 0xff. */
START_TEST(malformed_ranges_are_refused)
{
    uint8_t bytes[UCP_RANGE_MAX];
    uint64_t address, length;
    unsigned sizes, refused = 0;

    for (sizes = 0; sizes <= UINT8_MAX; ++sizes) {
        ck_assert_uint_ge(ucp_range_size((uint8_t)sizes), 5);
        ck_assert_uint_le(ucp_range_size((uint8_t)sizes), UCP_RANGE_MAX);
        memset(bytes, 0, sizeof(bytes));
        ck_assert_int_ne(ucp_range_unpack((uint8_t)sizes, bytes, &address,
                                          &length),
                         0);
        ck_assert_uint_eq(length, 0);
        memset(bytes, 0xff, sizeof(bytes));
        if (ucp_range_unpack((uint8_t)sizes, bytes, &address, &length)) {
            ck_assert_uint_ge(address + length, address);
        } else {
            ++refused;
        }
    }
    /* These were rejected because of too many pages or an end beyond the
     * address space. */
    ck_assert_uint_eq(refused, 78);
}
END_TEST

START_TEST(keys_give_pointers_and_an_order)
{
    ucp_rkey_compare_params_t none = {0};
    ucp_mem_h memh, other;
    ucp_rkey_h a, b, c;
    int result, reverse;
    char own[64];
    void *p;

    open_local();
    ck_assert_int_eq(map(own, sizeof(own), 0, &memh), UCS_OK);
    ck_assert_int_eq(map(own, sizeof(own), 0, &other), UCS_OK);
    a = unpack_key(local.ep, memh);
    b = unpack_key(local.ep, memh);
    c = unpack_key(local.ep, other);
    ck_assert_int_eq(ucp_rkey_ptr(a, (uintptr_t)own + 5, &p), UCS_OK);
    ck_assert_ptr_eq(p, own + 5);
    ck_assert_int_eq(ucp_rkey_ptr(a, (uintptr_t)own + 64, &p),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(ucp_rkey_ptr(a, (uintptr_t)own - 1, &p),
                     UCS_ERR_INVALID_ADDR);

    ck_assert_int_eq(ucp_rkey_compare(local.worker, a, b, &none, &result),
                     UCS_OK);
    ck_assert_int_eq(result, 0);
    ck_assert_int_eq(ucp_rkey_compare(local.worker, a, c, &none, &result),
                     UCS_OK);
    ck_assert_int_eq(ucp_rkey_compare(local.worker, c, a, &none, &reverse),
                     UCS_OK);
    ck_assert_int_eq(result, -reverse);
    ck_assert_int_ne(result, 0);
    ck_assert_int_eq(ucp_rkey_compare(local.worker, a, NULL, &none, &result),
                     UCS_ERR_INVALID_PARAM);

    ucp_rkey_destroy(a);
    ucp_rkey_destroy(b);
    ucp_rkey_destroy(c);
    ck_assert_int_eq(ucp_mem_unmap(local.context, memh), UCS_OK);
    ck_assert_int_eq(ucp_mem_unmap(local.context, other), UCS_OK);
    local_close(&local);
}
END_TEST

/* No memory domain of this test can export memory: exporting is an error.
 * Importing untrusted bytes is rejected without harm. */
START_TEST(export_needs_a_domain_that_can)
{
    ucp_memh_pack_params_t pack = {
        .field_mask = UCP_MEMH_PACK_PARAM_FIELD_FLAGS,
        .flags      = UCP_MEMH_PACK_FLAG_EXPORT,
    };
    ucp_mem_map_params_t import = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER,
    };
    ucp_packed_mem_t mem = {.length = 64, .num_keys = 1};
    char own[64];
    void *bytes;
    ucp_mem_h memh;
    size_t size;

    open_local();
    ck_assert_int_eq(map(own, sizeof(own), 0, &memh), UCS_OK);
    ck_assert_int_eq(ucp_memh_pack(memh, &pack, &bytes, &size),
                     UCS_ERR_UNSUPPORTED);
    pack.flags = UINT64_MAX;
    ck_assert_int_eq(ucp_memh_pack(memh, &pack, &bytes, &size),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_mem_unmap(local.context, memh), UCS_OK);

    mem.keys[0].code = ucp_packed_code("self");
    ck_assert_int_eq(ucp_packed_write(&mem, UCP_PACKED_EXPORTED, &bytes, &size),
                     UCS_OK);
    import.exported_memh_buffer = bytes;
    ck_assert_int_eq(ucp_mem_map(local.context, &import, &memh),
                     UCS_ERR_UNREACHABLE);
    ((char *)bytes)[size - 1] ^= 1;
    ck_assert_int_eq(ucp_mem_map(local.context, &import, &memh),
                     UCS_ERR_INVALID_PARAM);
    free(bytes);
    local_close(&local);
}
END_TEST

START_TEST(a_trial_says_how_memory_is_mapped)
{
    char text[4096] = "";
    FILE *stream;

    open_local();
    stream = fmemopen(text, sizeof(text) - 1, "w");
    ucp_mem_print_info("64k", local.context, stream);
    ucp_mem_print_info("64k,host", local.context, stream);
    ucp_mem_print_info("many", local.context, stream);
    ucp_mem_print_info("64k,paper", local.context, stream);
    fclose(stream);
    ck_assert_ptr_nonnull(strstr(text, "allocated 64K at address"));
    ck_assert_ptr_nonnull(strstr(text, "registered on: self"));
    ck_assert_ptr_nonnull(strstr(text, "'many' is not a size"));
    ck_assert_ptr_nonnull(strstr(text, "'64k,paper' is not a size"));
    local_close(&local);
}
END_TEST

SUITE_MAIN("ucp mem", memory_is_mapped_by_the_table_of_the_api,
           a_handle_of_length_0_has_no_address, misuse_is_refused,
           locked_memory_is_resident, only_locked_memory_is_unlocked,
           advice_is_taken_for_parts_of_the_memory_only,
           a_damaged_key_is_refused, keys_of_components_come_back,
           ranges_of_memory_come_back, malformed_ranges_are_refused,
           keys_give_pointers_and_an_order, export_needs_a_domain_that_can,
           a_trial_says_how_memory_is_mapped)
