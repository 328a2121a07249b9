/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: data from other processes about shared memory. The input changes
 * bytes of a valid address, key or segment head, which is then used.
 *
 * Input: one byte, then pairs (offset, new value) of one byte each. In the
 * first byte, bit 0 selects posix (0) or sysv (1). Bits 1 to 7, modulo 3,
 * select what to change (CHANGE_*). Bit 7 also makes an address or key one byte
 * too short.
 */
#include "md_side.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CHANGE_ADDRESS, CHANGE_KEY, CHANGE_HEAD, NUM_TARGETS };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A domain with an allocation, opened once for each of posix and sysv. */
typedef struct target {
    side_t side;
    uct_mem_h memh;
    void *memory;
    uint8_t *head;         /* Mapped head of the allocation's segment */
    uint8_t good_head[64]; /* The start of the head, to restore it */
} target_t;

static target_t *target_of(int which)
{
    static target_t targets[2];
    static int is_open[2];
    target_t *target = &targets[which];
    size_t length    = 16384;
    const shm_seg_t *seg;

    if (!is_open[which]) {
        side_open(&target->side, which);
        EXPECT_EQ(side_alloc(&target->side, &length, &target->memory, 0,
                             &target->memh),
                  UCS_OK);
        seg          = ((shm_region_t *)target->memh)->seg;
        target->head = seg->head;
        if (seg->head == NULL) {
            target->head = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
                                seg->fd, 0);
            EXPECT_TRUE(target->head != MAP_FAILED);
        }
        memcpy(target->good_head, target->head, sizeof(target->good_head));
        is_open[which] = 1;
    }
    return target;
}

static void change(uint8_t *bytes, size_t length, const uint8_t *data,
                   size_t size)
{
    for (; size >= 2; data += 2, size -= 2) {
        bytes[data[0] % length] = data[1];
    }
}

/* Unpacks a key. If it is valid, accesses the first and the last byte to which
 * it gives access: both must be mapped. */
static void use_key(target_t *target, const uint8_t *key, size_t length)
{
    uct_rkey_t rkey;
    void *first, *last;
    const shm_rkey_t *seen;

    if (side_unpack(&target->side, key, length, &rkey) != UCS_OK) {
        return;
    }
    seen = (const shm_rkey_t *)rkey;
    EXPECT_EQ(shm_rkey_ptr(&target->side.component.super, rkey, NULL,
                           seen->base, &first),
              UCS_OK);
    EXPECT_EQ(shm_rkey_ptr(&target->side.component.super, rkey, NULL,
                           seen->base + seen->length - 1, &last),
              UCS_OK);
    *(volatile char *)first = 1;
    *(volatile char *)last  = 1;
    side_release(&target->side, rkey);
}

static void use_address(target_t *target, const uint8_t *address, size_t length)
{
    shm_md_t *md = (shm_md_t *)target->side.md;
    char reason[100];
    shm_seg_t seg;

    if (shm_seg_attach(&md->space, address, length, &seg, reason,
                       sizeof(reason)) == UCS_OK) {
        (void)shm_seg_is_locked(&seg, seg.num_locks - 1);
        shm_seg_wake(&seg);
        shm_seg_close(&seg);
    } else {
        EXPECT_TRUE(strlen(reason) > 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t key[SHM_KEY_LENGTH], address[SHM_ADDRESS_LENGTH];
    target_t *target;

    if (size < 1) {
        return 0;
    }
    target = target_of((data[0] & 1) ? SHM_SYSV : SHM_POSIX);
    side_pack(&target->side, target->memh, key);
    shm_seg_address(((shm_region_t *)target->memh)->seg, address);
    switch ((data[0] >> 1) % NUM_TARGETS) {
    case CHANGE_ADDRESS:
        change(address, sizeof(address), data + 1, size - 1);
        use_address(target, address, sizeof(address) - (data[0] >> 7));
        break;
    case CHANGE_KEY:
        change(key, sizeof(key), data + 1, size - 1);
        use_key(target, key, sizeof(key) - (data[0] >> 7));
        break;
    default:
        change(target->head, sizeof(target->good_head), data + 1, size - 1);
        use_key(target, key, sizeof(key));
        use_address(target, address, sizeof(address));
        memcpy(target->head, target->good_head, sizeof(target->good_head));
        break;
    }
    return 0;
}
