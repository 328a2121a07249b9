/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of the counters (the segment, see layout.h) and its records. The
 * memory is a memory file (memfd), so that no file remains when the process is
 * killed. Another process with permission opens it by /proc/PID/fd (process.c).
 *
 *   record:  FREE --create--> LIVE --end--> ENDED --space is needed--> FREE
 *            FREE --create--> SUM  --end--> ENDED, or FREE if its values are 0
 */
#include "ucs/stats/internal.h"

#include "ucs/debug/log.h"
#include "ucs/sys/sys.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* If a type has at least this many ended records and no free one, a new record
 * of the type reuses the space of an ended one, even if the segment has unused
 * space. */
enum { ENDED_MAX = 4096 };

/* The free and the ended records of one type, as lists that are linked by the
 * `next` members of the records. The links and the first three members here are
 * offsets in the segment; 0 stands for no record. */
typedef struct {
    uint32_t free;        /* first free record */
    uint32_t first_ended; /* the record that ended first */
    uint32_t last_ended;  /* the record that ended last */
    unsigned num_ended;   /* number of ended records */

    /* receives the values of an ended record before its space is reused */
    ucs_stats_record_t *sum;
} pool_t;

static struct {
    pthread_mutex_t lock;
    unsigned users; /* ucs_stats_open() minus ucs_stats_close() calls */
    ucs_stats_header_t *header; /* start of the segment; NULL: not created */
    size_t size;                /* bytes of the segment */
    int fd; /* of the memory file; -1: the memory is private */

    /* Of the memory file, to recognize it: if the program closes descriptors
     * that it has not opened, `fd` may become another file. */
    ino_t inode;

    int full; /* set in a forked child that could not create a segment of its
               * own: nothing is counted there */
    uint32_t last_number;              /* `number` of the record that was
                                        * created last */
    pool_t pools[UCS_STATS_TYPES_MAX]; /* indexed by type */
} segment = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000ul + (uint64_t)time.tv_nsec;
}

static ucs_stats_record_t *at(uint32_t offset)
{
    return (ucs_stats_record_t *)((char *)segment.header + offset);
}

static uint32_t offset_of(const ucs_stats_record_t *record)
{
    return (uint32_t)((const char *)record - (const char *)segment.header);
}

static ucs_stats_layout_type_t *layout_type(unsigned type)
{
    return stats_type_at(segment.header, type);
}

/* --------------------------------------------------------------- memory -- */

/* Creates a memory file of this size and seals the size, because a process that
 * has mapped a file gets SIGBUS if the file shrinks. Returns -1 on failure.
 * Also called in forked children, so it must not call malloc(). */
static int make_file(size_t size)
{
    int fd = memfd_create(UCS_STATS_FILE_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0) {
        return -1;
    }
    if ((fchmod(fd, S_IRUSR | S_IWUSR) != 0) ||
        (ftruncate(fd, (off_t)size) != 0) ||
        (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) !=
         0)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Returns `size`, or 0 if it exceeds the limit RLIMIT_FSIZE: setting the size
 * of a file beyond this limit sends SIGXFSZ, which would kill the process. */
static size_t within_limits(size_t size)
{
    struct rlimit limit;

    return ((getrlimit(RLIMIT_FSIZE, &limit) == 0) &&
            (limit.rlim_cur != RLIM_INFINITY) && (limit.rlim_cur < size)) ?
               0 :
               size;
}

static void note_inode(void)
{
    struct stat about;

    segment.inode = (fstat(segment.fd, &about) == 0) ? about.st_ino : 0;
}

/* Closes the memory file, unless its descriptor has become another file (see
 * `inode`). */
static void close_file(void)
{
    struct stat about;

    if ((segment.fd >= 0) && (fstat(segment.fd, &about) == 0) &&
        (about.st_ino == segment.inode)) {
        close(segment.fd);
    }
    segment.fd = -1;
}

/* Maps the memory file, or private memory if that fails: then the process
 * counts, but other processes cannot read. */
static void *map_memory(size_t size)
{
    void *memory = MAP_FAILED;

    segment.fd = (within_limits(size) > 0) ? make_file(size) : -1;
    if (segment.fd >= 0) {
        note_inode();
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
                      segment.fd, 0);
    }
    if (memory == MAP_FAILED) {
        ucs_diag("other processes cannot read the counters: %m");
        close_file(); /* otherwise readers would find the file without
                       * counters */
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    return memory;
}

static void fill_header(void)
{
    ucs_stats_header_t *header = segment.header;

    header->major   = UCS_STATS_MAJOR;
    header->minor   = UCS_STATS_MINOR;
    header->pid     = (uint32_t)getpid();
    header->size    = segment.size;
    header->started = now();
    ucs_strncpy_zero(header->host, ucs_get_host_name(), sizeof(header->host));
    ucs_strncpy_zero(header->program, ucs_get_exe_name(),
                     sizeof(header->program));
}

/* -------------------------------------------------------------- records -- */

static uint64_t value_of(const uint64_t *value)
{
    return __atomic_load_n(value, __ATOMIC_RELAXED);
}

/* Removes the record that ended first from the list, adds its values to the sum
 * of the type, and returns its offset. The caller reuses its space. */
static uint32_t take_ended(unsigned type)
{
    pool_t *pool               = &segment.pools[type];
    uint32_t offset            = pool->first_ended;
    ucs_stats_record_t *record = at(offset);
    unsigned i;

    for (i = 0; i < layout_type(type)->num_counters; ++i) {
        ucs_stats_add(pool->sum, i, value_of(&record->values[i]));
    }
    __atomic_store_n(&record->state, UCS_STATS_FREE, __ATOMIC_RELEASE);
    pool->first_ended = record->next;
    if (--pool->num_ended == 0) {
        pool->last_ended = 0;
    }
    return offset;
}

/* Returns the offset of space for a record: a free record, the space after the
 * last record, or an ended record. Returns 0 if there is none. */
static uint32_t take_room(unsigned type)
{
    pool_t *pool    = &segment.pools[type];
    size_t size     = layout_type(type)->record_size;
    uint32_t offset = pool->free;

    if (offset != 0) {
        pool->free = at(offset)->next;
        return offset;
    }
    if (pool->num_ended >= ENDED_MAX) {
        return take_ended(type);
    }
    if (segment.size - segment.header->used >= size) {
        offset           = (uint32_t)segment.header->used;
        at(offset)->size = (uint32_t)size;
        __atomic_store_n(&segment.header->used, offset + size,
                         __ATOMIC_RELEASE);
        return offset;
    }
    return (pool->num_ended > 0) ? take_ended(type) : 0;
}

static ucs_stats_record_t *create(unsigned type,
                                  const ucs_stats_record_t *parent,
                                  const char *name, uint32_t state)
{
    uint32_t offset = segment.full ? 0 : take_room(type);
    ucs_stats_record_t *record;

    if (offset == 0) {
        ++segment.header->lost;
        return NULL;
    }

    record         = at(offset);
    record->type   = type;
    record->number = ++segment.last_number;
    record->parent = (parent != NULL) ? parent->number : 0;
    record->status = UCS_OK;
    record->since  = now();
    record->until  = 0;
    record->next   = 0;
    ucs_strncpy_zero(record->name, name, sizeof(record->name));
    memset(record->values, 0, record->size - sizeof(*record));
    __atomic_store_n(&record->state, state, __ATOMIC_RELEASE);
    return record;
}

ucs_stats_record_t *ucs_stats_create(unsigned type,
                                     const ucs_stats_record_t *parent,
                                     const char *name)
{
    ucs_stats_record_t *record;

    pthread_mutex_lock(&segment.lock);
    record = create(type, parent, name, UCS_STATS_LIVE);
    pthread_mutex_unlock(&segment.lock);
    return record;
}

ucs_stats_record_t *ucs_stats_create_sum(unsigned type,
                                         const ucs_stats_record_t *parent,
                                         const char *name)
{
    ucs_stats_record_t *record;

    pthread_mutex_lock(&segment.lock);
    record = create(type, parent, name, UCS_STATS_SUM);
    pthread_mutex_unlock(&segment.lock);
    return record;
}

/* Adds a type and returns its index, or -1 if there is no space. The caller
 * holds the lock. */
static int add_type(const ucs_stats_type_t *type)
{
    int index = stats_type_append(segment.header, type);

    if (index >= 0) {
        segment.pools[index].sum = create((unsigned)index, NULL,
                                          "ended earlier", UCS_STATS_SUM);
    }
    return index;
}

int ucs_stats_is_on(void)
{
    int on;

    pthread_mutex_lock(&segment.lock);
    on = (segment.header != NULL) && !segment.full;
    pthread_mutex_unlock(&segment.lock);
    return on;
}

int ucs_stats_add_type(const ucs_stats_type_t *type)
{
    int index = -1;

    pthread_mutex_lock(&segment.lock);
    if ((segment.header != NULL) && !segment.full) {
        index = stats_type_find(segment.header, type);
        if (index < 0) {
            index = add_type(type);
        }
    }
    pthread_mutex_unlock(&segment.lock);
    return index;
}

static int is_zero(const ucs_stats_record_t *record)
{
    unsigned i;

    for (i = 0; i < layout_type(record->type)->num_counters; ++i) {
        if (value_of(&record->values[i]) != 0) {
            return 0;
        }
    }
    return 1;
}

void ucs_stats_end(ucs_stats_record_t *record, ucs_status_t status)
{
    pool_t *pool;

    if (record == NULL) {
        return;
    }

    pthread_mutex_lock(&segment.lock);
    if (segment.full) {
        goto out;
    }
    pool = &segment.pools[record->type];
    if ((record->state == UCS_STATS_SUM) && is_zero(record)) {
        __atomic_store_n(&record->state, UCS_STATS_FREE, __ATOMIC_RELEASE);
        record->next = pool->free;
        pool->free   = offset_of(record);
    } else {
        record->status = status;
        record->until  = now();
        record->next   = 0;
        if (pool->last_ended != 0) {
            at(pool->last_ended)->next = offset_of(record);
        } else {
            pool->first_ended = offset_of(record);
        }
        pool->last_ended = offset_of(record);
        ++pool->num_ended;
        __atomic_store_n(&record->state, UCS_STATS_ENDED, __ATOMIC_RELEASE);
    }
out:
    pthread_mutex_unlock(&segment.lock);
}

/* ----------------------------------------------------------------- fork -- */

static void fork_before(void)
{
    pthread_mutex_lock(&segment.lock);
}

static void fork_in_parent(void)
{
    pthread_mutex_unlock(&segment.lock);
}

/* In a forked child, sets the values of all records to zero, so that the child
 * does not report what its parent has counted. Frees ended records. */
static void start_over(void)
{
    ucs_stats_header_t *header = segment.header;
    uint64_t offset            = header->records_at;
    ucs_stats_record_t *record;

    for (; offset < header->used; offset += record->size) {
        record = at((uint32_t)offset);
        memset(record->values, 0, record->size - sizeof(*record));
        if (record->state == UCS_STATS_ENDED) {
            record->state                    = UCS_STATS_FREE;
            record->next                     = segment.pools[record->type].free;
            segment.pools[record->type].free = (uint32_t)offset;
        }
    }
    for (unsigned i = 0; i < UCS_STATS_TYPES_MAX; ++i) {
        segment.pools[i].first_ended = segment.pools[i].last_ended = 0;
        segment.pools[i].num_ended                                 = 0;
    }
    header->pid     = (uint32_t)getpid();
    header->started = now();
    header->lost    = 0;
}

/* In a forked child, maps a copy of the segment in place of the memory that it
 * shares with the parent, at the same address: objects that the child has
 * inherited have pointers to their records. Returns 0 on failure. */
static int replace_memory(void)
{
    int fd       = make_file(segment.size);
    void *memory = MAP_FAILED;

    if ((fd >= 0) &&
        (ucs_write_full(fd, segment.header, segment.header->used) == UCS_OK)) {
        memory = mmap(segment.header, segment.size, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED, fd, 0);
    }
    if (memory == MAP_FAILED) {
        if (fd >= 0) {
            close(fd);
        }
        return 0;
    }
    close_file();
    segment.fd = fd;
    note_inode();
    return 1;
}

static void fork_in_child(void)
{
    if (segment.header != NULL) {
        if ((segment.fd < 0) || replace_memory()) {
            start_over();
        } else {
            /* inherited objects continue to write to their records: replace
             * the shared memory by private memory, which nobody reads */
            segment.full = 1;
            (void)mmap(segment.header, segment.size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            close_file();
        }
    }
    pthread_mutex_unlock(&segment.lock); /* this thread locked it before the
                                          * fork */
    stats_report_forked();
}

static void fork_register(void)
{
    pthread_atfork(fork_before, fork_in_parent, fork_in_child);
}

/* -------------------------------------------------- opening and closing -- */

static int start(const ucs_stats_type_t *types, unsigned num_types,
                 const stats_options_t *options)
{
    void *memory;
    unsigned i;

    pthread_once(&fork_once, fork_register);
    segment.size = options->max_size & ~(size_t)4095;
    memory       = map_memory(segment.size);
    if (memory == MAP_FAILED) {
        ucs_error("nothing is counted: no memory for the %zu bytes of "
                  "UCX_STATS_MAX_SIZE: %m",
                  segment.size);
        close_file();
        return 0;
    }

    segment.header = memory;
    fill_header();
    stats_types_reserve(segment.header, types, num_types);
    for (i = 0; i < num_types; ++i) {
        (void)add_type(&types[i]); /* succeeds: space for these types was
                                    * reserved */
    }
    /* written last: readers reject memory without the magic number */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    memcpy(segment.header->magic, UCS_STATS_MAGIC,
           sizeof(segment.header->magic));
    return 1;
}

int ucs_stats_open(const ucs_stats_type_t *types, unsigned num_types,
                   const ucs_config_source_t *source)
{
    stats_options_t options;
    int on;

    if (!stats_options_read(source, &options)) {
        return 0;
    }

    pthread_mutex_lock(&segment.lock);
    on = options.enable && !segment.full &&
         ((segment.header != NULL) || start(types, num_types, &options));
    segment.users += (unsigned)on;
    pthread_mutex_unlock(&segment.lock);
    if (on) {
        stats_report_start(&options);
    }
    stats_options_release(&options);
    return on;
}

void ucs_stats_close(void)
{
    int last;

    pthread_mutex_lock(&segment.lock);
    last = (--segment.users == 0);
    pthread_mutex_unlock(&segment.lock);
    if (last) {
        stats_report_stop();
    }
}

/* -------------------------------------------------------------- reading -- */

void *stats_segment_copy(size_t *length_p)
{
    uint64_t *copy = NULL;
    const uint64_t *words;
    size_t i;

    pthread_mutex_lock(&segment.lock);
    if ((segment.header != NULL) && !segment.full) {
        *length_p = segment.header->used;
        copy      = malloc(*length_p);
    }
    if (copy != NULL) {
        words = (const uint64_t *)segment.header;
        for (i = 0; i < *length_p / sizeof(*words); ++i) {
            copy[i] = value_of(&words[i]); /* other threads may change it */
        }
    }
    pthread_mutex_unlock(&segment.lock);
    return copy;
}

/* Writes the last report. Releases the memory unless ucs_stats_close() calls
 * are missing: then other threads may still count during the exit. */
static void UCS_F_DTOR end_with_the_process(void)
{
    if (segment.header == NULL) {
        return;
    }

    stats_report_last();
    if (segment.users == 0) {
        munmap(segment.header, segment.size);
        segment.header = NULL;
        close_file();
    }
}
