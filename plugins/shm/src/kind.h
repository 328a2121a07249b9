/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files that implement segment.h: the operations that differ
 * between posix and sysv (shm_kind), the head of a segment, its address, and
 * the functions by which these files use each other.
 */
#ifndef SHM_KIND_H
#define SHM_KIND_H

#include "segment.h"

#include <string.h>

/* The first bytes of a segment. Other processes can write to this memory: copy
 * it once, and check the copy. */
typedef struct shm_seg_head {
    uint64_t magic;
    uint32_t version;
    uint32_t num_locks;
    uint64_t length; /* Number of the user's bytes */
    uint64_t page;   /* Page size in bytes */
    uint8_t token[SHM_TOKEN_LENGTH];
    uint32_t maker_pid;
    int32_t event_fd; /* Number of the creator's descriptor of the event
                       * (event.c); -1: no event */
    uint32_t zero;
    uint64_t event_ino; /* Inode of the event's pipe or FIFO */
    uint64_t owners[];  /* sysv: num_locks words, each the owner of a lock; 0:
                         * free (sysv.c) */
} shm_seg_head_t;

#define SHM_SEG_MAGIC   0x6d68732d78637500ull
#define SHM_SEG_VERSION 1

_Static_assert(sizeof(shm_seg_head_t) == 64, "layout between processes");

/*
 * The address of a segment, decoded. Encoded it has SHM_ADDRESS_LENGTH bytes;
 * the numbers are offsets:
 *   0 version << 4 | flags << 2 | kind
 *   1 inode, 4 bytes, little-endian
 *   5 pid, id, then zeros
 *  15 token
 * pid and id have 7 bits in each byte, the lowest first, and bit 7 set in all
 * but the last byte. The random part of the token is at the end of the address,
 * so that in a key (keys.h) it is next to the description of the memory.
 */
typedef struct shm_seg_addr {
    uint8_t kind;
    uint8_t flags;  /* SHM_ADDR_* */
    uint32_t pid;   /* PID of the creator, in its PID namespace */
    uint32_t id;    /* posix: number of the creator's descriptor; sysv:
                     * identifier of the segment */
    uint32_t inode; /* Lower half of an inode number. posix: of the file; sysv:
                     * of the creator's PID namespace */
    uint8_t token[SHM_TOKEN_LENGTH];
} shm_seg_addr_t;

enum { SHM_ADDR_NAMED = 1u << 0 }; /* The segment is a file with a name */

struct shm_kind {
    const char *name;
    uint8_t code; /* Value of `kind` in addresses */

    /* Creates memory of seg->length bytes, rounded up to pages, writes its head
     * and takes lock 0. `at`: address for the user's bytes; NULL: any. posix
     * ignores it, because map() maps them. Logs errors, except that a fixed
     * address is in use. */
    ucs_status_t (*make)(shm_seg_t *seg, void *at);
    /* Sets the members id and inode of `addr`; posix also sets flags. */
    void (*address)(const shm_seg_t *seg, shm_seg_addr_t *addr);
    /* Opens the segment with this address and the token seg->token, and sets
     * the members of `seg` from its head. */
    ucs_status_t (*attach)(shm_seg_t *seg, const shm_seg_addr_t *addr,
                           char *reason, size_t reason_size);
    void (*close)(shm_seg_t *seg);
    void *(*map)(shm_seg_t *seg, size_t offset, size_t length, void *at);
    void (*unmap)(shm_seg_t *seg, void *address, size_t length);
    /* Commits whole pages. */
    ucs_status_t (*commit)(shm_seg_t *seg, void *mapped, size_t offset,
                           size_t length);
    void (*decommit)(shm_seg_t *seg, void *mapped, size_t offset,
                     size_t length);
    int (*lock)(shm_seg_t *seg, unsigned index);
    void (*unlock)(shm_seg_t *seg, unsigned index);
    int (*is_locked)(const shm_seg_t *seg, unsigned index);
};

/* --- segment.c ------------------------------------------------------------ */

/* Writes the reason, if `reason` is not NULL, and returns
 * UCS_ERR_UNREACHABLE. */
ucs_status_t shm_unreachable(char *reason, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Logs that shared memory cannot be obtained, with errno: as an error the first
 * time in a space, later or with SHM_SEG_QUIET at debug level. `what`: a verb,
 * which follows "cannot". `advice`: what the user can do. */
void shm_out_of_memory(const shm_seg_t *seg, const char *what, size_t bytes,
                       const char *advice);

/* Fills the head of a new segment. */
void shm_head_write(const shm_seg_t *seg, shm_seg_head_t *head);

/* Returns non-zero if the head is that of the segment with seg->token, and the
 * segment has `total` bytes according to it; then its values are copied to
 * `seg`. `head`: a copy that peers cannot change. */
int shm_head_read(shm_seg_t *seg, const shm_seg_head_t *head, uint64_t total);

/* --- proc.c --------------------------------------------------------------- */

/* Sets space->has_proc: whether /proc exists and shows this process by its own
 * PID. */
void shm_proc_probe(shm_space_t *space);

/* Opens descriptor `fd` of process `pid` as an open file description of our
 * own, if it has this type (S_IFREG, S_IFIFO) and inode; otherwise returns -1.
 * Other files are never opened. `mask`: the bits of the inode number that are
 * compared. `flags`: those of open(). */
int shm_proc_open(uint32_t pid, int fd, mode_t type, uint64_t inode,
                  uint64_t mask, int flags);

/* Opens the file of a descriptor of this process again, with an open file
 * description of its own. Returns -1 if that is not possible. */
int shm_reopen(int fd, int flags);

/* Commits all pages by system calls and not by loads, so that a lack of memory
 * raises no signal. Returns zero if all pages have memory. */
int shm_populate(void *address, size_t length, size_t page);

/* --- event.c -------------------------------------------------------------- */

/* Creates a pipe, the event, by which peers wake the creator. Sets event_rd and
 * event_wr, and event_fd and event_ino, by which peers find the event. */
ucs_status_t shm_event_make(shm_seg_t *seg);
void shm_event_close(shm_seg_t *seg);

/* --- handover.c ----------------------------------------------------------- */

ucs_status_t shm_handover_open(shm_space_t *space);
void shm_handover_close(shm_space_t *space);
/* Makes a segment available to other processes by the service of handover.c, a
 * thread with a local socket. Starts the service if it is needed. */
void shm_handover_add(shm_seg_t *seg);
void shm_handover_remove(shm_seg_t *seg);
/* Starts the service, because a peer that needs it was met: now if there is a
 * segment, otherwise with the first segment. Has no effect for sysv, and if
 * space->use_socket is UCS_NO. */
void shm_handover_start(shm_space_t *space);
/* Requests the segment with this token from its creator's service. Stores in
 * *fd_p a descriptor of the segment, and in *event_p one of its event, or -1 if
 * there is none or it cannot be opened; both have open file descriptions of
 * their own. Returns 0, or an errno. */
int shm_handover_ask(shm_space_t *space, const uint8_t *token, int *fd_p,
                     int *event_p);

/* --- names.c -------------------------------------------------------------- */

enum { SHM_PATH_MAX = 512 };

/* Writes the path of the segment's file or, if `fifo`, of its FIFO. Returns
 * non-zero if the path fits. */
int shm_name_path(const shm_space_t *space, const uint8_t *token, int fifo,
                  char *path, size_t size);
/* Sets the segment's token: the id of its space, and new random bytes. Defined
 * in segment.c. */
ucs_status_t shm_seg_new_token(shm_seg_t *seg);

/* Creates the file of a named segment, and a FIFO if it has an event, and takes
 * lock 0. Returns the file's descriptor; -1, with errno set, on failure.
 * Generates a new random token: a secret in the token would be visible to other
 * users in the file's name. */
int shm_name_make(shm_seg_t *seg);
int shm_name_open(const shm_space_t *space, const uint8_t *token);
void shm_name_remove(const shm_space_t *space, const uint8_t *token);
/* Removes this user's segment files in space->dir whose creators have exited.
 * Only the first call for a space has an effect. */
void shm_names_sweep(shm_space_t *space);

/* sysv_stale.c: shm_sysv_get() calls shmget() for a segment that other
 * processes can recognize as stale if this process dies before it marks the
 * segment for removal. shm_sysv_remove_stale() removes such segments. */
int shm_sysv_get(size_t length, int flags);
void shm_sysv_remove_stale(void);

#endif
