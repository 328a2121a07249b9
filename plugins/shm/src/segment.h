/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments: stretches of shared memory that one process makes and others
 * attach, of either kind (memfd and /dev/shm, or System V).
 *
 * A segment is sparse: its length is address space, and memory is used for
 * what has been committed. It begins with a head, which only these functions
 * know, that proves to whoever attaches that it is the right one; the user's
 * bytes begin at offset 0 of what shm_seg_map() gives.
 *
 * A segment has numbered locks. A lock is held by one process at a time and is
 * free again as soon as that process has ended, however it ended. Lock 0 is
 * held by the maker: it tells others that the maker lives.
 *
 * Nothing of a segment outlives the processes that have it, except in the mode
 * that needs names in a directory; see the README for what clears those.
 *
 * Threads: functions on one segment are called by one thread at a time; those
 * of one space, by any.
 */
#ifndef SHM_SEGMENT_H
#define SHM_SEGMENT_H

#include "fork.h"
#include "plugin.h"

#include <ucs/config/types.h>

/* The largest page that HUGETLB_MODE may give; no segment's unit is larger. */
#ifndef SHM_HUGE_PAGE
#  define SHM_HUGE_PAGE ((size_t)2 << 20)
#endif

enum { SHM_TOKEN_LENGTH = 12, SHM_ADDRESS_LENGTH = 27 };

typedef struct shm_kind shm_kind_t;

/* Where segments come from: one for each memory domain. Settings may be changed
 * between shm_space_open and the first segment. */
typedef struct shm_space {
    const ucx_host_t    *host;
    const shm_kind_t    *kind;
    struct shm_handover *handover;  /* Hands descriptors to other processes */
    const char          *dir;       /* For names, "/dev/shm"; not copied */
    int                 use_names;  /* ucs_ternary_auto_value_t: names in `dir`
                                       instead of memfd; default UCS_TRY */
    int                 use_proc;   /* Try the process file system first;
                                       default 1 */
    int                 use_socket; /* ucs_ternary_auto_value_t: a thread hands
                                       descriptors out; default UCS_AUTO */
    int                 hugetlb;    /* ucs_ternary_auto_value_t; default
                                       UCS_NO */
    /* Not for users */
    uint8_t             id[4];      /* Random: begins the token of each
                                       segment, and names the socket */
    int                 has_proc;   /* /proc is there and is about us */
    uint32_t            pid;
    uint32_t            pid_ns;     /* Inode of the PID namespace; 0: unknown */
    uint64_t            owner;      /* We, in a table of owners: see sysv.c */
    int                 told;       /* That memory is out */
    int                 swept;      /* Stale names in `dir`; stale segments */
} shm_space_t;

/* Stays where it is while it is open: others point to it. */
typedef struct shm_seg {
    shm_space_t     *space;
    size_t          length;     /* Bytes for the user */
    size_t          page;       /* Unit of memory: 4096, or a huge page */
    uint8_t         token[SHM_TOKEN_LENGTH]; /* Random: names the segment */
    int             fd;         /* Our own open description, or -1 */
    uint32_t        maker_fd;   /* posix: the descriptor in the maker */
    int             sysv_id;    /* Or -1 */
    void            *head;      /* sysv: where the whole is attached */
    size_t          head_length; /* Bytes before the user's */
    unsigned        num_locks;
    uint8_t         *held;      /* sysv: a bit for each lock that is ours */
    unsigned        flags;      /* SHM_SEG_* */
    int             is_maker;
    int             is_named;   /* There is a file in `dir` */
    uint32_t        maker_pid;
    int             event_rd;   /* Maker: becomes readable by shm_seg_wake; -1 */
    int             event_wr;   /* Opened when it is needed; -1 */
    int32_t         event_fd;   /* The maker's event, in the maker */
    uint64_t        event_ino;
    shm_fork_item_t fork;
    struct shm_seg  *next;      /* The maker's space: all that can be attached */
} shm_seg_t;

enum {
    SHM_SEG_EVENT = 1u << 0, /* Peers can wake the maker */
    SHM_SEG_QUIET = 1u << 1, /* Failures are not logged as errors */
    SHM_SEG_FIXED = 1u << 2  /* shm_seg_make_mapped: at the address, or fail */
};

/* Opens and closes a space; nothing is made or started yet. */
ucs_status_t shm_space_open(shm_space_t *space, const ucx_host_t *host,
                            const shm_kind_t *kind);
void shm_space_close(shm_space_t *space);

extern const shm_kind_t shm_kind_posix;
extern const shm_kind_t shm_kind_sysv;

/* Makes a segment with `num_locks` locks, the first of which it takes. The
 * length is rounded up to pages. Errors: NO_MEMORY (limit, full), with a
 * message that says which limit. */
ucs_status_t shm_seg_make(shm_space_t *space, size_t length,
                          unsigned num_locks, unsigned flags, shm_seg_t *seg);

/* Likewise with one lock, mapped whole: at `at` if it can be, or must be
 * (SHM_SEG_FIXED; UCS_ERR_INVALID_ADDR if not). NULL: anywhere. `secret`: the
 * random part of the token, unless it would become a file's name; 0: a new
 * one. */
ucs_status_t shm_seg_make_mapped(shm_space_t *space, size_t length, void *at,
                                 unsigned flags, uint64_t secret,
                                 shm_seg_t *seg, void **mapped_p);

/* How others find it: shm_seg_address_length() bytes, fit for a wire. Any
 * process that has the segment may tell it, not only the maker. */
size_t shm_seg_address_length(const shm_space_t *space);
void shm_seg_address(const shm_seg_t *seg, void *address);

/* Points to the token in an address of sufficient length. */
const uint8_t *shm_seg_address_token(const void *address);

/* Attaches a segment of another process (or of this one). The bytes are foreign.
 * UNREACHABLE: it cannot be shared with us, and `reason` (if not NULL) says
 * why; nothing is logged. It takes some system calls, and waits for nobody but
 * a maker that can only be asked by its socket: one that lives and does not
 * answer costs 10 s, and 10 more where many ask it. */
ucs_status_t shm_seg_attach(shm_space_t *space, const void *address,
                            size_t address_length, shm_seg_t *seg,
                            char *reason, size_t reason_size);

/* Unmaps nothing that shm_seg_map gave: do that first. Frees our locks. */
void shm_seg_close(shm_seg_t *seg);

/* Maps [offset, +length), multiples of seg->page; NULL if it cannot. */
void *shm_seg_map(shm_seg_t *seg, size_t offset, size_t length);
void shm_seg_unmap(shm_seg_t *seg, void *address, size_t length);

/* Makes memory for mapped bytes, rounded out to pages: after UCS_OK touching
 * them cannot fail any more. `mapped` is where the byte at `offset` is mapped.
 * NO_MEMORY: a limit is reached; nothing is lost. */
ucs_status_t shm_seg_commit(shm_seg_t *seg, void *mapped, size_t offset,
                            size_t length);

/* Gives memory of whole pages back; they read as zero then. */
void shm_seg_decommit(shm_seg_t *seg, void *mapped, size_t offset,
                      size_t length);

/* Takes lock `index`, without waiting. Non-zero: it is ours now. */
int shm_seg_lock(shm_seg_t *seg, unsigned index);
void shm_seg_unlock(shm_seg_t *seg, unsigned index);

/* Non-zero: a living process, maybe this one through another attachment, has
 * the lock. Safe from any thread while the segment is open. */
int shm_seg_is_locked(const shm_seg_t *seg, unsigned index);

/* Makes the maker's event_rd readable. Never blocks. Any peer. */
void shm_seg_wake(shm_seg_t *seg);
/* The maker: takes the wake-ups off. */
void shm_seg_event_clear(shm_seg_t *seg);

#endif
