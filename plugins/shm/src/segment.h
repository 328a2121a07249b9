/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments: shared memory that one process creates and others attach, of one of
 * two kinds: posix (a memfd, or a file in a directory) or sysv (System V).
 *
 * A segment is sparse: its length is address space, and only committed memory
 * is used. It begins with a head, private to these functions, by which a
 * process that attaches the segment verifies its identity. Offsets count from
 * the user's first byte, which follows the head.
 *
 * A segment has numbered locks. One process at a time holds a lock; it is
 * released when that process ends, in any way. The creator holds lock 0, which
 * shows that it is alive.
 *
 * Nothing of a segment outlives the processes that use it, with two exceptions:
 * the file of a posix segment with a name whose creator was killed, and a
 * System V segment whose creator dies while it creates the segment. The README
 * describes how these are removed.
 *
 * Threads: only one thread at a time may call functions on a segment, except
 * shm_seg_is_locked(). Any thread may call functions on a space, except to open
 * and close it.
 */
#ifndef SHM_SEGMENT_H
#define SHM_SEGMENT_H

#include "fork.h"
#include "plugin.h"

#include <ucs/config/types.h>

/* Page size of segments with huge pages (UCX_POSIX_HUGETLB_MODE,
 * UCX_SYSV_HUGETLB_MODE); no segment has larger pages. */
#ifndef SHM_HUGE_PAGE
#define SHM_HUGE_PAGE ((size_t)2 << 20)
#endif

enum { SHM_TOKEN_LENGTH = 12, SHM_ADDRESS_LENGTH = 27 };

typedef struct shm_kind shm_kind_t;

/* Source of segments: one for each memory domain, which creates and attaches
 * them, and one for each cache of remote keys (keys.h), which only attaches
 * them. The settings, `dir` to `hugetlb`, may be changed after
 * shm_space_open(), before the first segment is created. */
typedef struct shm_space {
    const ucx_host_t *host;
    const shm_kind_t *kind;
    struct shm_handover *handover; /* Passes descriptors to other processes */
    const char *dir;               /* Directory of named segments; default
                                    * "/dev/shm"; the string is not copied */
    int use_names;                 /* ucs_ternary_auto_value_t: files in `dir`
                                    * instead of memfd; default UCS_TRY */
    int use_proc;                  /* Non-zero: attach a segment by /proc if
                                    * possible; default 1 */
    int use_socket;                /* ucs_ternary_auto_value_t: a thread passes
                                    * descriptors; default UCS_AUTO */
    int hugetlb;                   /* ucs_ternary_auto_value_t: huge pages;
                                    * default UCS_NO */
    /* Private */
    uint8_t id[4]; /* Random: start of each segment's token,
                    * and name of the socket */
    int has_proc;  /* Non-zero: /proc exists and shows this process by its own
                    * PID */
    uint32_t pid;
    uint32_t pid_ns; /* Inode of the PID namespace; 0: unknown */
    uint64_t owner;  /* sysv: identifies this process as owner of a lock, see
                      * sysv.c; 0: not determined yet */
    int told;        /* Non-zero: a lack of memory was logged as an error */
    int swept;       /* Non-zero: stale names in `dir`, or stale segments of
                      * System V, were removed */
} shm_space_t;

/* Must not move while it is open: other objects point to it. */
typedef struct shm_seg {
    shm_space_t *space;
    size_t length;                   /* Bytes for the user */
    size_t page;                     /* Page size in bytes: that of the system,
                                      * or SHM_HUGE_PAGE */
    uint8_t token[SHM_TOKEN_LENGTH]; /* Random: identifies the
                                      * segment */
    int fd;                          /* posix: descriptor of a separate open
                                      * file description, which carries our
                                      * locks; otherwise -1 */
    uint32_t maker_fd;               /* posix, not in the creator: number of the
                                      * creator's descriptor */
    int sysv_id;                     /* sysv: identifier; otherwise -1 */
    void *head;                      /* sysv: address of the whole segment */
    size_t head_length;              /* Bytes before the user's bytes */
    unsigned num_locks;
    uint8_t *held;      /* sysv: a bit for each lock held by this process;
                         * NULL: none was held yet */
    unsigned flags;     /* SHM_SEG_* */
    int is_maker;       /* This process has created the segment */
    int is_named;       /* There is a file in `dir` */
    uint32_t maker_pid; /* PID of the creator, in its PID namespace */
    int event_rd;       /* Creator: readable after shm_seg_wake(); -1: no
                         * event */
    int event_wr;       /* Descriptor by which shm_seg_wake() makes event_rd
                         * readable; -1: not opened yet */
    int32_t event_fd; /* Number of the creator's descriptor of the event; -1: no
                       * event */
    int wake_told;    /* Non-zero: it was logged why shm_seg_wake() cannot open
                       * the event */
    uint64_t event_ino; /* Inode of the event's pipe or FIFO */
    shm_fork_item_t fork;
    struct shm_seg *next; /* Next attachable segment in the creator's space */
} shm_seg_t;

enum {
    SHM_SEG_EVENT = 1u << 0, /* Peers can wake the creator */
    SHM_SEG_QUIET = 1u << 1, /* Failures are not logged as errors */
    SHM_SEG_FIXED = 1u << 2, /* shm_seg_make_mapped(): use the address `at`, or
                              * fail */
};

/* Opens and closes a space. Opening creates no segment, socket or thread. */
ucs_status_t shm_space_open(shm_space_t *space, const ucx_host_t *host,
                            const shm_kind_t *kind);
void shm_space_close(shm_space_t *space);

extern const shm_kind_t shm_kind_posix;
extern const shm_kind_t shm_kind_sysv;

/* Creates a segment with `num_locks` locks, 1 to 2^20, and takes lock 0. The
 * length is rounded up to pages. UCS_ERR_NO_MEMORY: a limit is reached or the
 * file system is full; the message names the limit. */
ucs_status_t shm_seg_make(shm_space_t *space, size_t length, unsigned num_locks,
                          unsigned flags, shm_seg_t *seg);

/* As shm_seg_make(), with a given random part of the token. `secret` 0: a new
 * random number. A segment with a file name ignores `secret`, because other
 * users can see the name. */
ucs_status_t shm_seg_make_secret(shm_space_t *space, size_t length,
                                 unsigned num_locks, unsigned flags,
                                 uint64_t secret, shm_seg_t *seg);

/* As shm_seg_make_secret() with one lock, and maps the whole segment. `at`: the
 * preferred address; NULL: any. With SHM_SEG_FIXED, UCS_ERR_INVALID_ADDR is
 * returned if that address cannot be used. */
ucs_status_t shm_seg_make_mapped(shm_space_t *space, size_t length, void *at,
                                 unsigned flags, uint64_t secret,
                                 shm_seg_t *seg, void **mapped_p);

/* Writes the address by which other processes attach the segment:
 * shm_seg_address_length() bytes, which can be sent. Any process that has the
 * segment may pass the address on. */
size_t shm_seg_address_length(const shm_space_t *space);
void shm_seg_address(const shm_seg_t *seg, void *address);

/* Returns a pointer to the token in an address of SHM_ADDRESS_LENGTH bytes. */
const uint8_t *shm_seg_address_token(const void *address);

/* Attaches a segment of another process (or of this one). The bytes come from a
 * peer. Returns UCS_ERR_UNREACHABLE if the segment cannot be shared with this
 * process; `reason` (if not NULL) receives the cause, and nothing is logged. If
 * the segment can only be obtained by the creator's socket, the call waits at
 * most 10 s for the connection and 10 s for the answer. Otherwise it makes some
 * system calls that do not wait. */
ucs_status_t shm_seg_attach(shm_space_t *space, const void *address,
                            size_t address_length, shm_seg_t *seg, char *reason,
                            size_t reason_size);

/* Closes a segment and releases our locks. Unmap its mappings first. */
void shm_seg_close(shm_seg_t *seg);

/* Maps `length` bytes from `offset`, both multiples of seg->page. Returns NULL
 * on failure. */
void *shm_seg_map(shm_seg_t *seg, size_t offset, size_t length);
void shm_seg_unmap(shm_seg_t *seg, void *address, size_t length);

/* Commits memory for mapped bytes, extended to pages: after UCS_OK accesses
 * cannot fail any more. `mapped` is the address of the byte at `offset`.
 * UCS_ERR_NO_MEMORY: a limit is reached; the contents are unchanged. */
ucs_status_t shm_seg_commit(shm_seg_t *seg, void *mapped, size_t offset,
                            size_t length);

/* Frees the memory of the pages that are entirely in the range; they read as
 * zero afterwards. */
void shm_seg_decommit(shm_seg_t *seg, void *mapped, size_t offset,
                      size_t length);

/* Tries to take lock `index`. Returns non-zero on success. */
int shm_seg_lock(shm_seg_t *seg, unsigned index);
void shm_seg_unlock(shm_seg_t *seg, unsigned index);

/* Returns non-zero if a live process holds the lock. Must not be called for a
 * lock that `seg` itself holds; this process may hold it by another attachment.
 * Any thread may call it while the segment is open. */
int shm_seg_is_locked(const shm_seg_t *seg, unsigned index);

/* Returns non-zero if shm_seg_wake() of other processes can wake the creator of
 * a segment of this space. */
int shm_seg_can_wake(const shm_space_t *space);
/* Wakes the creator of the segment: makes its event_rd readable. Never blocks.
 * Any process that has the segment open may call it. Logs an error, once for
 * the segment, if a lack of /proc or of descriptors prevents it. */
void shm_seg_wake(shm_seg_t *seg);
/* Called by the creator: consumes the wake-ups. */
void shm_seg_event_clear(shm_seg_t *seg);

#endif
