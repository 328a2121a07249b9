/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes for the tests of segments: each created by fork(), in namespaces of
 * its own if requested, with a host that counts log messages.
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

/* Returns the host of this process, and the number of errors it has logged. */
const ucx_host_t *seg_host(void);
unsigned seg_host_errors(void);
const char *seg_host_last_error(void);

/* Settings of a space. */
typedef struct seg_way {
    const char *name;
    const shm_kind_t *kind;
    int use_names;
    int use_proc;
    int use_socket;
} seg_way_t;

/* Ways in which segments are passed between processes of the same
 * namespaces. */
enum {
    SEG_MEMFD,
    SEG_SOCKET,
    SEG_NAMED,
    SEG_NAME_ONLY,
    SEG_SYSV,
    SEG_NUM_WAYS,
};
extern const seg_way_t seg_ways[SEG_NUM_WAYS];

/* Returns a folder in shared memory for the names of this test, which is
 * removed when the test ends. */
const char *seg_dir(void);

/* Opens a space. `dir` NULL: seg_dir(). */
void seg_space_open(shm_space_t *space, int way, const char *dir);

/* Runs body(arg, fd) in a child process; fd is the other end of *fd_p.
 * `namespaces`: CLONE_NEW*, created first, with a matching /proc. */
pid_t seg_fork(void (*body)(void *arg, int fd), void *arg, int namespaces,
               int *fd_p);
/* Waits for a child process. Returns true if it succeeded. *skipped_p, if not
 * NULL, is set if the kernel rejected the namespaces. */
int seg_join(pid_t pid, int *skipped_p);
void seg_kill(pid_t pid);
void seg_write(int fd, const void *data, size_t length);
void seg_read(int fd, void *data, size_t length);
void seg_signal(int fd);
void seg_await(int fd);

int seg_count_fds(void);
/* Waits until the process has this number of descriptors, with a timeout;
 * returns the actual number. A thread of the space may close its descriptors a
 * moment later. */
int seg_await_fds(int count);
/* Returns the number of our files in the folder. */
int seg_count_names(const char *dir);
/* Returns non-zero if the System V segment exists. */
int seg_sysv_exists(int id);
/* Returns the bytes of memory that a posix segment uses. */
long long seg_memory(const shm_seg_t *seg);
double seg_now(void);

#endif
