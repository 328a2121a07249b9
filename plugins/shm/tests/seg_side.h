/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes for the tests of segments: each is created by fork(), in namespaces
 * of its own if requested. A host (the functions that the core library provides
 * to a plugin) counts log messages. Other functions open spaces with all
 * settings that are tested, and count descriptors, files and memory.
 */
#ifndef SHM_TEST_SEG_SIDE_H
#define SHM_TEST_SEG_SIDE_H

#include "segment.h"

#include <sys/types.h>

/* Ends the process with an error that shows both values and the location. */
#define EXPECT_EQ(_a, _b) \
    do { \
        long long _x = (long long)(_a), _y = (long long)(_b); \
        if (_x != _y) { \
            seg_die(__FILE__, __LINE__, #_a " == " #_b, _x, _y); \
        } \
    } while (0)
#define EXPECT_GE(_a, _b) \
    do { \
        long long _x = (long long)(_a), _y = (long long)(_b); \
        if (_x < _y) { \
            seg_die(__FILE__, __LINE__, #_a " >= " #_b, _x, _y); \
        } \
    } while (0)
#define EXPECT_TRUE(_c) \
    do { \
        if (!(_c)) { \
            seg_die(__FILE__, __LINE__, #_c, 0, 1); \
        } \
    } while (0)

void seg_die(const char *file, int line, const char *what, long long a,
             long long b) __attribute__((noreturn));

/* Return the host of this process, the number of messages logged to it, and the
 * last of them. Only errors are logged. */
const ucx_host_t *seg_host(void);
unsigned seg_host_errors(void);
const char *seg_host_last_error(void);

/* Settings of a space (shm_space_t, segment.h). */
typedef struct seg_way {
    const char *name;
    const shm_kind_t *kind; /* posix or sysv */
    int use_names;          /* UCS_YES: segments are files with names */
    int use_proc;           /* Whether peers open segments in /proc */
    int use_socket;         /* UCS_YES: peers get descriptors by a socket */
} seg_way_t;

/* Ways in which segments are passed between processes of the same namespaces;
 * indices into seg_ways. */
enum {
    SEG_MEMFD,     /* Memory without a name, opened in /proc */
    SEG_SOCKET,    /* Memory without a name, its descriptor sent by a socket */
    SEG_NAMED,     /* File with a name, opened in /proc */
    SEG_NAME_ONLY, /* File with a name, opened by the name */
    SEG_SYSV,      /* System V shared memory */
    SEG_NUM_WAYS,
};
extern const seg_way_t seg_ways[SEG_NUM_WAYS];

/* Returns a folder in shared memory for the names of this test, which is
 * removed when the test ends. */
const char *seg_dir(void);

/* Opens a space with the settings of seg_ways[way]. `dir`: folder for names;
 * NULL: seg_dir(). */
void seg_space_open(shm_space_t *space, int way, const char *dir);

/* Runs body(arg, fd) in a child process. `fd` and *fd_p are the two ends of a
 * socket pair; *fd_p is for the parent. `namespaces`: CLONE_NEW* flags of
 * namespaces that the child enters before; 0: none. With new PID and mount
 * namespaces it mounts a new /proc. */
pid_t seg_fork(void (*body)(void *arg, int fd), void *arg, int namespaces,
               int *fd_p);
/* Waits for a child process. Returns non-zero if it succeeded or was skipped.
 * *skipped_p, if not NULL, is set to whether it was skipped: it ended with the
 * exit status 77, because the kernel rejected the namespaces or a mount. */
int seg_join(pid_t pid, int *skipped_p);
void seg_kill(pid_t pid);
void seg_write(int fd, const void *data, size_t length);
void seg_read(int fd, void *data, size_t length);
void seg_signal(int fd);
void seg_await(int fd);

int seg_count_fds(void);
/* Waits until this process has `count` descriptors, or until a timeout, and
 * returns the actual number. The wait is needed because the thread that passes
 * segments of a space (handover.c) may close its descriptors a moment later. */
int seg_await_fds(int count);
/* Returns the number of files and FIFOs of this plugin in the folder. */
int seg_count_names(const char *dir);
/* Returns non-zero if the System V segment exists. */
int seg_sysv_exists(int id);
/* Returns the number of bytes allocated for a posix segment. */
long long seg_memory(const shm_seg_t *seg);
double seg_now(void);

#endif
