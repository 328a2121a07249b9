/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments and spaces (segment.h): the code common to both kinds of memory,
 * posix and sysv. Encodes and checks the addresses of segments, and writes and
 * checks their heads.
 */
#include "kind.h"
#include "secret.h"

#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ADDR_KIND_AT       = 0,
    ADDR_INODE_AT      = 1,
    ADDR_NUMBERS_AT    = 5,
    ADDR_TOKEN_AT      = 15,
    ADDR_VERSION       = 2,
    ADDR_VERSION_SHIFT = 4,
    ADDR_FLAGS_SHIFT   = 2,
    ADDR_BITS          = 3,
};

_Static_assert(ADDR_TOKEN_AT + SHM_TOKEN_LENGTH == SHM_ADDRESS_LENGTH,
               "address");

static void put_le32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; ++i) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

static uint32_t get_le32(const uint8_t *at)
{
    return at[0] | ((uint32_t)at[1] << 8) | ((uint32_t)at[2] << 16) |
           ((uint32_t)at[3] << 24);
}

static uint8_t *put_number(uint8_t *at, uint32_t value)
{
    for (; value >= 0x80; value >>= 7) {
        *at++ = (uint8_t)(value | 0x80);
    }
    *at++ = (uint8_t)value;
    return at;
}

/* Decodes a number of 7 bits in each byte (kind.h). Reads at most five bytes,
 * so that the two numbers of an address end before its token, even in an
 * invalid address. */
static const uint8_t *get_number(const uint8_t *at, uint32_t *value_p)
{
    uint64_t value = 0;

    for (int i = 0; i < 5; ++i) {
        value |= (uint64_t)(*at & 0x7f) << (7 * i);
        if (!(*at++ & 0x80)) {
            break;
        }
    }
    *value_p = (uint32_t)value;
    return at;
}

ucs_status_t shm_unreachable(char *reason, size_t size, const char *format, ...)
{
    va_list ap;

    if ((reason != NULL) && (size > 0)) {
        va_start(ap, format);
        vsnprintf(reason, size, format, ap);
        va_end(ap);
    }
    return UCS_ERR_UNREACHABLE;
}

void shm_out_of_memory(const shm_seg_t *seg, const char *what, size_t bytes,
                       const char *advice)
{
    const ucx_host_t *host = seg->space->host;
    int *told              = &seg->space->told;
    int error              = errno;

    if ((seg->flags & SHM_SEG_QUIET) ||
        __atomic_exchange_n(told, 1, __ATOMIC_RELAXED)) {
        ucx_debug("%s: cannot %s %zu bytes of shared memory: %s",
                  seg->space->kind->name, what, bytes, strerror(error));
    } else {
        ucx_error("%s: cannot %s %zu bytes of shared memory: %s; %s",
                  seg->space->kind->name, what, bytes, strerror(error), advice);
    }
}

/* --- Spaces --------------------------------------------------------------- */

static ucs_status_t random_bytes(void *buffer, size_t length)
{
    ssize_t n;

    do {
        n = getrandom(buffer, length, 0);
    } while ((n < 0) && (errno == EINTR));
    return (n == (ssize_t)length) ? UCS_OK : UCS_ERR_IO_ERROR;
}

ucs_status_t shm_space_open(shm_space_t *space, const ucx_host_t *host,
                            const shm_kind_t *kind)
{
    struct stat st;
    ucs_status_t status;

    memset(space, 0, sizeof(*space));
    space->host       = host;
    space->kind       = kind;
    space->dir        = "/dev/shm";
    space->use_names  = UCS_TRY;
    space->use_proc   = 1;
    space->use_socket = UCS_AUTO;
    space->hugetlb    = UCS_NO;
    space->pid        = (uint32_t)getpid();

    status = shm_space_new_id(space->id);
    if (status != UCS_OK) {
        ucx_error("%s: the system provides no random numbers: %s", kind->name,
                  strerror(errno));
        return status;
    }

    shm_proc_probe(space);
    if (space->has_proc && (stat("/proc/self/ns/pid", &st) == 0)) {
        space->pid_ns = (uint32_t)st.st_ino;
    }
    return shm_handover_open(space);
}

void shm_space_close(shm_space_t *space)
{
    shm_handover_close(space);
}

/* --- The head ------------------------------------------------------------- */

void shm_head_write(const shm_seg_t *seg, shm_seg_head_t *head)
{
    head->version   = SHM_SEG_VERSION;
    head->num_locks = seg->num_locks;
    head->length    = seg->length;
    head->page      = seg->page;
    head->maker_pid = seg->maker_pid;
    head->event_fd  = seg->event_fd;
    head->event_ino = seg->event_ino;
    memcpy(head->token, seg->token, sizeof(head->token));
    __atomic_store_n(&head->magic, SHM_SEG_MAGIC, __ATOMIC_RELEASE);
}

int shm_head_read(shm_seg_t *seg, const shm_seg_head_t *head, uint64_t total)
{
    uint64_t front;

    if ((head->magic != SHM_SEG_MAGIC) || (head->version != SHM_SEG_VERSION) ||
        (memcmp(head->token, seg->token, sizeof(head->token)) != 0) ||
        (head->num_locks == 0) || (head->num_locks > (1u << 20)) ||
        (head->page < 4096) || (head->page > SHM_HUGE_PAGE) ||
        (head->page & (head->page - 1))) {
        return 0;
    }

    front = shm_align_up(sizeof(*head) + head->num_locks * sizeof(uint64_t),
                         head->page);
    if (seg->space->kind == &shm_kind_posix) {
        front = head->page;
    }
    if ((head->length == 0) || (head->length > (SIZE_MAX >> 1)) ||
        (head->length & (head->page - 1)) || (total != head->length + front)) {
        return 0;
    }

    seg->length      = head->length;
    seg->page        = head->page;
    seg->head_length = front;
    seg->num_locks   = head->num_locks;
    seg->maker_pid   = head->maker_pid;
    seg->event_fd    = head->event_fd;
    seg->event_ino   = head->event_ino;
    return 1;
}

/* --- Making --------------------------------------------------------------- */

static void seg_init(shm_seg_t *seg, shm_space_t *space)
{
    memset(seg, 0, sizeof(*seg));
    seg->space    = space;
    seg->fd       = -1;
    seg->sysv_id  = -1;
    seg->event_rd = -1;
    seg->event_wr = -1;
    seg->event_fd = -1;
}

/* Runs in a forked child, where the segment belongs to the parent. Closes the
 * descriptors, and makes shm_seg_close() in the child leave the parent's locks
 * and files as they are. */
static void forked(shm_fork_item_t *item)
{
    shm_seg_t *seg = shm_container_of(item, shm_seg_t, fork);
    int *fds[]     = {&seg->fd, &seg->event_rd, &seg->event_wr};

    for (int i = 0; i < 3; ++i) {
        if (*fds[i] >= 0) {
            close(*fds[i]);
            *fds[i] = -1;
        }
    }
    seg->is_maker  = 0;
    seg->num_locks = 0;
}

ucs_status_t shm_seg_new_token(shm_seg_t *seg)
{
    const size_t given = sizeof(seg->space->id);

    memcpy(seg->token, seg->space->id, given);
    return random_bytes(seg->token + given, sizeof(seg->token) - given);
}

static ucs_status_t make(shm_space_t *space, size_t length, unsigned num_locks,
                         void *at, unsigned flags, uint64_t secret,
                         shm_seg_t *seg)
{
    ucs_status_t status;

    seg_init(seg, space);
    if ((length == 0) || (length > (SIZE_MAX >> 2))) {
        return (length == 0) ? UCS_ERR_INVALID_PARAM : UCS_ERR_NO_MEMORY;
    }

    seg->is_maker  = 1;
    seg->flags     = flags;
    seg->length    = length;
    seg->num_locks = num_locks;
    seg->maker_pid = (uint32_t)getpid();
    status         = shm_seg_new_token(seg);
    if (status != UCS_OK) {
        return status;
    }
    if (secret != 0) {
        secret = htole64(secret);
        memcpy(seg->token + sizeof(space->id), &secret, sizeof(secret));
    }

    /* Create the event before the head is written, because the head contains
     * the event's descriptor number and inode */
    shm_fork_add(&seg->fork, forked);
    if (flags & SHM_SEG_EVENT) {
        status = shm_event_make(seg);
        if (status != UCS_OK) {
            goto err;
        }
    }
    status = space->kind->make(seg, at);
    if (status != UCS_OK) {
        goto err_event;
    }
    shm_handover_add(seg);
    return UCS_OK;

err_event:
    shm_event_close(seg);
err:
    shm_fork_remove(&seg->fork);
    return status;
}

ucs_status_t shm_seg_make(shm_space_t *space, size_t length, unsigned num_locks,
                          unsigned flags, shm_seg_t *seg)
{
    return make(space, length, num_locks, NULL, flags, 0, seg);
}

ucs_status_t shm_seg_make_secret(shm_space_t *space, size_t length,
                                 unsigned num_locks, unsigned flags,
                                 uint64_t secret, shm_seg_t *seg)
{
    return make(space, length, num_locks, NULL, flags, secret, seg);
}

ucs_status_t shm_seg_make_mapped(shm_space_t *space, size_t length, void *at,
                                 unsigned flags, uint64_t secret,
                                 shm_seg_t *seg, void **mapped_p)
{
    ucs_status_t status = make(space, length, 1, at, flags, secret, seg);
    void *mapped;

    if (status != UCS_OK) {
        return status;
    }

    mapped = space->kind->map(seg, 0, seg->length, at);
    if ((mapped == NULL) || ((flags & SHM_SEG_FIXED) && (mapped != at))) {
        if (mapped != NULL) {
            shm_seg_unmap(seg, mapped, seg->length);
        } else if (!(flags & SHM_SEG_FIXED)) {
            shm_out_of_memory(seg, "map", seg->length,
                              "raise the limit of address space (ulimit -v)");
        }
        shm_seg_close(seg);
        return (flags & SHM_SEG_FIXED) ? UCS_ERR_INVALID_ADDR :
                                         UCS_ERR_NO_MEMORY;
    }
    *mapped_p = mapped;
    return UCS_OK;
}

void shm_seg_close(shm_seg_t *seg)
{
    /* The thread of handover.c, which sends descriptors to peers, must not send
     * those that are closed below */
    if (seg->is_maker) {
        shm_handover_remove(seg);
    }
    shm_fork_remove(&seg->fork);
    seg->space->kind->close(seg);
    shm_event_close(seg);
}

/* --- Addresses ------------------------------------------------------------ */

size_t shm_seg_address_length(const shm_space_t *space)
{
    return SHM_ADDRESS_LENGTH;
}

void shm_seg_address(const shm_seg_t *seg, void *address)
{
    shm_seg_addr_t addr = {.kind = seg->space->kind->code};
    uint8_t *bytes      = address;

    addr.pid = seg->maker_pid;
    seg->space->kind->address(seg, &addr);
    memset(bytes, 0, SHM_ADDRESS_LENGTH);
    bytes[ADDR_KIND_AT] = (uint8_t)((ADDR_VERSION << ADDR_VERSION_SHIFT) |
                                    (addr.flags << ADDR_FLAGS_SHIFT) |
                                    addr.kind);
    put_le32(bytes + ADDR_INODE_AT, addr.inode);
    put_number(put_number(bytes + ADDR_NUMBERS_AT, addr.pid), addr.id);
    memcpy(bytes + ADDR_TOKEN_AT, seg->token, SHM_TOKEN_LENGTH);
}

const uint8_t *shm_seg_address_token(const void *address)
{
    return (const uint8_t *)address + ADDR_TOKEN_AT;
}

ucs_status_t shm_seg_attach(shm_space_t *space, const void *address,
                            size_t address_length, shm_seg_t *seg, char *reason,
                            size_t reason_size)
{
    const uint8_t *bytes = address;
    shm_seg_addr_t addr;
    ucs_status_t status;

    seg_init(seg, space);
    if ((address_length < SHM_ADDRESS_LENGTH) ||
        ((bytes[ADDR_KIND_AT] >> ADDR_VERSION_SHIFT) != ADDR_VERSION) ||
        ((bytes[ADDR_KIND_AT] & ADDR_BITS) != space->kind->code)) {
        return shm_unreachable(reason, reason_size,
                               "its address is not one of %s memory of a "
                               "supported version",
                               space->kind->name);
    }

    addr.kind  = bytes[ADDR_KIND_AT] & ADDR_BITS;
    addr.flags = (bytes[ADDR_KIND_AT] >> ADDR_FLAGS_SHIFT) & ADDR_BITS;
    addr.inode = get_le32(bytes + ADDR_INODE_AT);
    get_number(get_number(bytes + ADDR_NUMBERS_AT, &addr.pid), &addr.id);
    memcpy(addr.token, bytes + ADDR_TOKEN_AT, sizeof(addr.token));
    memcpy(seg->token, addr.token, sizeof(seg->token));

    status = space->kind->attach(seg, &addr, reason, reason_size);
    if (status == UCS_OK) {
        shm_fork_add(&seg->fork, forked);
    }
    return status;
}

/* --- Use ------------------------------------------------------------------ */

void *shm_seg_map(shm_seg_t *seg, size_t offset, size_t length)
{
    if ((length == 0) || (offset > seg->length) ||
        (length > seg->length - offset) ||
        ((offset | length) & (seg->page - 1))) {
        return NULL;
    }
    return seg->space->kind->map(seg, offset, length, NULL);
}

void shm_seg_unmap(shm_seg_t *seg, void *address, size_t length)
{
    seg->space->kind->unmap(seg, address, length);
}

ucs_status_t shm_seg_commit(shm_seg_t *seg, void *mapped, size_t offset,
                            size_t length)
{
    size_t before = offset & (seg->page - 1);

    if ((offset > seg->length) || (length > seg->length - offset)) {
        return UCS_ERR_INVALID_PARAM;
    }
    return seg->space->kind->commit(seg, (char *)mapped - before,
                                    offset - before,
                                    shm_align_up(before + length, seg->page));
}

void shm_seg_decommit(shm_seg_t *seg, void *mapped, size_t offset,
                      size_t length)
{
    size_t skip = shm_align_up(offset, seg->page) - offset;
    size_t whole;

    if ((offset > seg->length) || (length > seg->length - offset) ||
        (skip >= length)) {
        return;
    }
    whole = (length - skip) & ~(seg->page - 1);
    if (whole > 0) {
        seg->space->kind->decommit(seg, (char *)mapped + skip, offset + skip,
                                   whole);
    }
}

int shm_seg_lock(shm_seg_t *seg, unsigned index)
{
    return (index < seg->num_locks) && seg->space->kind->lock(seg, index);
}

void shm_seg_unlock(shm_seg_t *seg, unsigned index)
{
    if (index < seg->num_locks) {
        seg->space->kind->unlock(seg, index);
    }
}

int shm_seg_is_locked(const shm_seg_t *seg, unsigned index)
{
    return (index < seg->num_locks) && seg->space->kind->is_locked(seg, index);
}
