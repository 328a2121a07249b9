/* SPDX-License-Identifier: BSD-3-Clause */
/* A side of a test: see side.h. */
#include "side.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

ucs_time_t side_keepalive;

void side_die(const char *file, int line, const char *what, long long a,
              long long b)
{
    fprintf(stderr, "%s:%d: expected %s: %lld and %lld (process %d)\n", file,
            line, what, a, b, (int)getpid());
    fflush(stderr);
    _exit(1);
}

double side_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static uct_component_h find_component(void)
{
    uct_component_attr_t attr;
    uct_component_h *list, found = NULL;
    unsigned num;

    EXPECT_EQ(uct_query_components(&list, &num), UCS_OK);
    for (unsigned i = 0; i < num; ++i) {
        attr.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME;
        EXPECT_EQ(uct_component_query(list[i], &attr), UCS_OK);
        if (strcmp(attr.name, "tcp") == 0) {
            found = list[i];
        }
    }
    uct_release_component_list(list);
    EXPECT_TRUE(found != NULL);
    return found;
}

static ucs_status_t on_failure(void *arg, uct_ep_h ep, ucs_status_t status)
{
    side_t *side = arg;

    ++side->failures;
    side->failed_ep     = ep;
    side->failed_status = status;
    return UCS_OK;
}

uct_iface_h side_open_iface(side_t *side, const char *config, side_addr_t *addr)
{
    uct_iface_config_t *iface_config;
    uct_iface_params_t params;
    const char *dev = getenv("TCP_TEST_DEV");
    uct_iface_h iface;
    char *copy, *item, *save, *value;

    EXPECT_EQ(uct_md_iface_config_read(side->md, "tcp", NULL, NULL,
                                       &iface_config),
              UCS_OK);
    copy = strdup((config == NULL) ? "" : config);
    for (item = strtok_r(copy, ",", &save); item != NULL;
         item = strtok_r(NULL, ",", &save)) {
        value    = strchr(item, '=');
        *value++ = '\0';
        EXPECT_EQ(uct_config_modify(iface_config, item, value), UCS_OK);
    }
    free(copy);

    memset(&params, 0, sizeof(params));
    params.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                        UCT_IFACE_PARAM_FIELD_DEVICE |
                        UCT_IFACE_PARAM_FIELD_ERR_HANDLER |
                        UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG;
    params.open_mode            = UCT_IFACE_OPEN_MODE_DEVICE;
    params.mode.device.tl_name  = "tcp";
    params.mode.device.dev_name = (dev == NULL) ? "lo" : dev;
    params.err_handler          = on_failure;
    params.err_handler_arg      = side;
    if (side_keepalive != 0) {
        params.field_mask |= UCT_IFACE_PARAM_FIELD_KEEPALIVE_INTERVAL;
        params.keepalive_interval = side_keepalive;
    }
    EXPECT_EQ(uct_iface_open(side->md, side->worker, &params, iface_config,
                             &iface),
              UCS_OK);
    uct_config_release(iface_config);

    uct_iface_progress_enable(iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    EXPECT_EQ(uct_iface_query(iface, &side->attr), UCS_OK);
    EXPECT_TRUE(side->attr.device_addr_len <= SIDE_ADDR_MAX);
    EXPECT_TRUE(side->attr.iface_addr_len <= SIDE_ADDR_MAX);
    memset(addr, 0, sizeof(*addr));
    EXPECT_EQ(uct_iface_get_device_address(iface, (void *)addr->dev), UCS_OK);
    EXPECT_EQ(uct_iface_get_address(iface, (void *)addr->iface), UCS_OK);
    return iface;
}

void side_open(side_t *side, const char *config)
{
    uct_md_config_t *md_config;

    memset(side, 0, sizeof(*side));
    side->component = find_component();
    EXPECT_EQ(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK,
                                       &side->async),
              UCS_OK);
    EXPECT_EQ(uct_worker_create(side->async, UCS_THREAD_MODE_SINGLE,
                                &side->worker),
              UCS_OK);
    EXPECT_EQ(uct_md_config_read(side->component, NULL, NULL, &md_config),
              UCS_OK);
    EXPECT_EQ(uct_md_open(side->component, "tcp", md_config, &side->md),
              UCS_OK);
    uct_config_release(md_config);
    side->iface = side_open_iface(side, config, &side->addr);
}

void side_close(side_t *side)
{
    uct_iface_close(side->iface);
    uct_md_close(side->md);
    uct_worker_destroy(side->worker);
    ucs_async_context_destroy(side->async);
}

uct_ep_h side_connect(side_t *side, const side_addr_t *peer)
{
    uct_ep_params_t params;
    uct_ep_h ep;

    EXPECT_TRUE(uct_iface_is_reachable(side->iface, (void *)peer->dev,
                                       (void *)peer->iface));
    params.field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                        UCT_EP_PARAM_FIELD_IFACE_ADDR;
    params.iface      = side->iface;
    params.dev_addr   = (void *)peer->dev;
    params.iface_addr = (void *)peer->iface;
    EXPECT_EQ(uct_ep_create(&params, &ep), UCS_OK);
    return ep;
}

void side_progress(side_t *side)
{
    uct_worker_progress(side->worker);
}

void side_wait(side_t *side, volatile unsigned *counter, unsigned value,
               const char *what)
{
    double end     = side_now() + SIDE_TIMEOUT;
    unsigned spins = 0;

    while (*counter < value) {
        if (uct_worker_progress(side->worker) > 0) {
            end = side_now() + SIDE_TIMEOUT;
        }
        if ((spins & 15) == 15) {
            sched_yield(); /* Other tests may use the processors */
        }
        if (((++spins & 1023) == 0) && (side_now() > end)) {
            fprintf(stderr, "waited too long for %s: %u of %u\n", what,
                    *counter, value);
            side_die(__FILE__, __LINE__, what, *counter, value);
        }
    }
}

typedef struct flush_comp {
    uct_completion_t super;
    unsigned done;
} flush_comp_t;

static void on_flushed(uct_completion_t *comp)
{
    ((flush_comp_t *)comp)->done = 1;
}

ucs_status_t side_flush(side_t *side, uct_ep_h ep, unsigned flags)
{
    flush_comp_t comp = {.super = {on_flushed, 1, UCS_OK}};
    ucs_status_t status;

    do {
        status = uct_ep_flush(ep, flags, &comp.super);
        if (status == UCS_ERR_NO_RESOURCE) {
            side_progress(side);
        }
    } while (status == UCS_ERR_NO_RESOURCE);
    if (status != UCS_INPROGRESS) {
        return status;
    }
    side_wait(side, &comp.done, 1, "a flush");
    return comp.super.status;
}

void side_am_short(side_t *side, uct_ep_h ep, uint8_t id, uint64_t header,
                   const void *data, unsigned length)
{
    ucs_status_t status;

    while ((status = uct_ep_am_short(ep, id, header, data, length)) ==
           UCS_ERR_NO_RESOURCE) {
        side_progress(side);
    }
    EXPECT_EQ(status, UCS_OK);
}

/* Counts descriptors whose link in /proc begins with `prefix`. */
static int count_fds(const char *prefix)
{
    DIR *dir  = opendir("/proc/self/fd");
    int count = 0;
    struct dirent *entry;
    char target[64];
    ssize_t length;

    while ((entry = readdir(dir)) != NULL) {
        length = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target));
        if ((length >= (ssize_t)strlen(prefix)) &&
            (memcmp(target, prefix, strlen(prefix)) == 0)) {
            ++count;
        }
    }
    closedir(dir);
    return count;
}

int side_count_fds(void)
{
    return count_fds("");
}

int side_count_sockets(void)
{
    return count_fds("socket:");
}

pid_t side_fork(void (*body)(void *arg, int fd), void *arg, int *fd_p)
{
    pid_t pid, parent = getpid();
    int fds[2];

    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    pid = fork();
    EXPECT_GE(pid, 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1);
        }
        close(fds[0]);
        body(arg, fds[1]);
        exit(0);
    }
    close(fds[1]);
    *fd_p = fds[0];
    return pid;
}

int side_join(pid_t pid)
{
    int status;

    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0);
}

typedef struct pair {
    void (*body)(void *arg, int fd);
    void *arg;
    int fd;
    int other_fd;
} pair_t;

static void pair_body(void *arg, int fd)
{
    pair_t *pair = arg;

    close(fd);
    close(pair->other_fd);
    pair->body(pair->arg, pair->fd);
}

int side_run_pair(void (*first)(void *arg, int fd),
                  void (*second)(void *arg, int fd), void *arg)
{
    pair_t a = {first, arg, -1, -1}, b = {second, arg, -1, -1};
    int fds[2], fd_a, fd_b, good;
    pid_t pid_a, pid_b;

    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    a.fd       = fds[0];
    a.other_fd = fds[1];
    b.fd       = fds[1];
    b.other_fd = fds[0];
    pid_a      = side_fork(pair_body, &a, &fd_a);
    pid_b      = side_fork(pair_body, &b, &fd_b);
    close(fds[0]);
    close(fds[1]);
    good = side_join(pid_a);
    if (!good) {
        kill(pid_b, SIGKILL);
    }
    good &= side_join(pid_b);
    close(fd_a);
    close(fd_b);
    return good;
}

void side_write(int fd, const void *data, size_t length)
{
    EXPECT_EQ(send(fd, data, length, MSG_NOSIGNAL), length);
}

void side_read(int fd, void *data, size_t length)
{
    EXPECT_EQ(recv(fd, data, length, MSG_WAITALL), length);
}

uct_ep_h side_meet(side_t *side, int fd, side_addr_t *peer)
{
    side_addr_t addr;

    side_write(fd, &side->addr, sizeof(side->addr));
    side_read(fd, &addr, sizeof(addr));
    if (peer != NULL) {
        *peer = addr;
    }
    return side_connect(side, &addr);
}

void side_read_later(side_t *side, int fd, void *data, size_t length)
{
    struct pollfd pfd = {.fd = fd, .events = POLLIN};
    double end        = side_now() + SIDE_TIMEOUT;

    while (poll(&pfd, 1, 0) == 0) {
        EXPECT_TRUE(side_now() < end);
        if (uct_worker_progress(side->worker) > 0) {
            end = side_now() + SIDE_TIMEOUT;
        }
        sched_yield();
    }
    side_read(fd, data, length);
}

void side_barrier(side_t *side, int fd)
{
    char byte = 'b';

    side_write(fd, &byte, 1);
    side_read_later(side, fd, &byte, 1);
}
