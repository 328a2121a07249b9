/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creates the network namespaces ("hosts") and their TAP devices, and carries
 * frames between the devices. A pseudo-random sequence with a fixed start
 * selects the frames that are lost, so that every run loses frames.
 */
#include "network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX  2048 /* Bytes */
#define QUEUE_MAX  256  /* Frames that are delayed at the same time */
#define ETHER_TYPE 12   /* Offset of the EtherType in a frame */
#define TYPE_ARP   0x0806

/* Number of frames out of 1000 */
#define LOST      80
#define REPEATED  40
#define REORDERED 100

/* Microseconds of delay on the lossy network: of most frames; of reordered
 * frames and of the second copy of repeated ones */
#define DELAY       200
#define DELAY_EXTRA 1500

/* Addresses in the network for tests of devices (RFC 2544) */
static const char *const addresses[] = {"198.18.0.1", "198.18.0.2"};

typedef struct frame {
    int to;       /* TAP descriptor of the receiving host */
    uint64_t due; /* Microseconds; 0: the entry is free */
    ssize_t length;
    char data[FRAME_MAX];
} frame_t;

typedef struct carrier {
    _Atomic uint64_t *frames;
    network_mode_t mode;
    int taps[2];
    int control;
    uint32_t random;
    frame_t queue[QUEUE_MAX];
} carrier_t;

static uint64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* --- Carrying frames ----------------------------------------------------- */

/* Returns a number from 0 to 999; the sequence is equal in every run. */
static unsigned next_random(carrier_t *carrier)
{
    carrier->random ^= carrier->random << 13;
    carrier->random ^= carrier->random >> 17;
    carrier->random ^= carrier->random << 5;
    return carrier->random % 1000;
}

static void deliver(const frame_t *frame)
{
    if (write(frame->to, frame->data, (size_t)frame->length) < 0) {
        return; /* The device is down: the frame is lost, as on a real
                 * network */
    }
}

/* Adds a frame to the queue, to be delivered after `delay` microseconds. If the
 * queue is full, the frame is lost. */
static void enqueue(carrier_t *carrier, const frame_t *frame, uint64_t delay)
{
    unsigned i;

    for (i = 0; i < QUEUE_MAX; ++i) {
        if (carrier->queue[i].due == 0) {
            carrier->queue[i]     = *frame;
            carrier->queue[i].due = now_us() + delay;
            return;
        }
    }
}

/* Returns whether the frame belongs to address resolution. These frames are not
 * lost: their retries take seconds, and the kernel sends them, not the
 * plugin. */
static int is_arp(const frame_t *frame)
{
    uint16_t type;

    memcpy(&type, frame->data + ETHER_TYPE, sizeof(type));
    return ntohs(type) == TYPE_ARP;
}

static void carry(carrier_t *carrier, const frame_t *frame)
{
    unsigned fate;

    if (is_arp(frame)) {
        deliver(frame);
        return;
    }
    atomic_fetch_add(carrier->frames, 1);
    if (carrier->mode == NETWORK_BLACK_HOLE) {
        return;
    } else if (carrier->mode == NETWORK_CLEAN) {
        deliver(frame);
        return;
    }
    fate = next_random(carrier);
    if (fate < LOST) {
        return;
    } else if (fate < LOST + REORDERED) {
        enqueue(carrier, frame, DELAY_EXTRA);
    } else {
        enqueue(carrier, frame, DELAY);
        if (fate < LOST + REORDERED + REPEATED) {
            enqueue(carrier, frame, DELAY_EXTRA);
        }
    }
}

/* Delivers the frames that are due, oldest first. Returns the time in
 * microseconds at which the next frame is due, or 0 if the queue is empty. */
static uint64_t deliver_due(carrier_t *carrier)
{
    frame_t *first;
    unsigned i;

    for (;;) {
        first = NULL;
        for (i = 0; i < QUEUE_MAX; ++i) {
            if ((carrier->queue[i].due != 0) &&
                ((first == NULL) || (carrier->queue[i].due < first->due))) {
                first = &carrier->queue[i];
            }
        }
        if ((first == NULL) || (first->due > now_us())) {
            return (first == NULL) ? 0 : first->due;
        }
        deliver(first);
        first->due = 0;
    }
}

static void receive(carrier_t *carrier, int side)
{
    frame_t frame = {.to = carrier->taps[!side]};

    while ((frame.length = read(carrier->taps[side], frame.data,
                                sizeof(frame.data))) > ETHER_TYPE + 2) {
        carry(carrier, &frame);
    }
}

/* Sets the mode for frames that are sent after this request. Returns 0 if the
 * other end of the socket is closed. */
static int serve_request(carrier_t *carrier)
{
    network_mode_t mode;

    if (recv(carrier->control, &mode, sizeof(mode), 0) != sizeof(mode)) {
        return 0;
    }
    receive(carrier, 0);
    receive(carrier, 1);
    carrier->mode = mode;
    return send(carrier->control, &mode, sizeof(mode), MSG_NOSIGNAL) ==
           sizeof(mode);
}

static void run_carrier(carrier_t *carrier)
{
    struct pollfd pfds[] = {
        {.fd = carrier->taps[0], .events = POLLIN},
        {.fd = carrier->taps[1], .events = POLLIN},
        {.fd = carrier->control, .events = POLLIN},
    };
    struct timespec wait;
    uint64_t due, now;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        due  = deliver_due(carrier);
        now  = now_us();
        wait = (struct timespec){
            .tv_nsec = (due > now) ? (long)(due - now) * 1000 : 0};
        if (ppoll(pfds, 3, (due == 0) ? NULL : &wait, NULL) <= 0) {
            continue;
        }
        receive(carrier, 0);
        receive(carrier, 1);
        if ((pfds[2].revents != 0) && !serve_request(carrier)) {
            _exit(0);
        }
    }
}

/* --- Creating the hosts -------------------------------------------------- */

static int write_text(const char *path, const char *format, unsigned id)
{
    char text[64];
    int length = snprintf(text, sizeof(text), format, id, id);
    int fd     = open(path, O_WRONLY | O_CLOEXEC);
    int result;

    if (fd < 0) {
        return 0;
    }
    result = (write(fd, text, (size_t)length) == length);
    close(fd);
    return result;
}

/* Enters a new network namespace. If the user may not create one, creates it in
 * a new user namespace, which maps the ids of user and group to themselves, so
 * that the user still owns its files. */
static int enter_namespace(void)
{
    const unsigned uid = geteuid(), gid = getegid();

    if (unshare(CLONE_NEWNET) == 0) {
        return 1;
    }
    return (errno == EPERM) && (unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0) &&
           write_text("/proc/self/setgroups", "deny", 0) &&
           write_text("/proc/self/uid_map", "%u %u 1", uid) &&
           write_text("/proc/self/gid_map", "%u %u 1", gid);
}

static int set_up(int sock, const char *name)
{
    struct ifreq request;

    memset(&request, 0, sizeof(request));
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    return ioctl(sock, SIOCSIFFLAGS, &request) == 0;
}

static int set_address(int sock, unsigned long what, const char *address)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct ifreq request;

    memset(&request, 0, sizeof(request));
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", NETWORK_DEVICE);
    inet_pton(AF_INET, address, &in.sin_addr);
    memcpy(&request.ifr_addr, &in, sizeof(in));
    return ioctl(sock, what, &request) == 0;
}

/* Creates the TAP device in the current network namespace. Returns its
 * descriptor, or -1. */
static int open_device(const char *address)
{
    struct ifreq request;
    int tap, sock, ready;

    tap = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (tap < 0) {
        return -1;
    }
    memset(&request, 0, sizeof(request));
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", NETWORK_DEVICE);
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    sock              = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ready             = (ioctl(tap, TUNSETIFF, &request) == 0) && (sock >= 0) &&
            set_address(sock, SIOCSIFADDR, address) &&
            set_address(sock, SIOCSIFNETMASK, "255.255.255.0") &&
            set_up(sock, NETWORK_DEVICE) && set_up(sock, "lo");
    if (sock >= 0) {
        close(sock);
    }
    if (!ready) {
        close(tap);
        return -1;
    }
    return tap;
}

/* Creates a host and enters it. *host_p receives a descriptor of its network
 * namespace, *tap_p that of its device. On failure, marks the check as skipped
 * and returns 0. */
static int create_host(run_t *run, const char *address, int *host_p, int *tap_p)
{
    if (!enter_namespace()) {
        check_skip(run, "no network namespace can be created: %s",
                   strerror(errno));
        return 0;
    }
    *tap_p = open_device(address);
    if (*tap_p < 0) {
        check_skip(run, "no network device can be created (/dev/net/tun): %s",
                   strerror(errno));
        return 0;
    }
    *host_p = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (*host_p < 0) {
        check_skip(run, "no descriptor of a network namespace: %s",
                   strerror(errno));
        close(*tap_p);
        return 0;
    }
    return 1;
}

/* Starts the process that carries frames. It exits when the other end of its
 * socket is closed. */
static int start_carrier(run_t *run, network_t *network, const int *taps)
{
    static carrier_t carrier = {.random = 0x2545f491u};
    int fds[2];

    network->frames = mmap(NULL, sizeof(*network->frames),
                           PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                           -1, 0);
    if (network->frames == MAP_FAILED) {
        check_skip(run, "no memory for the network");
        return 0;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
        check_skip(run, "no socket for the network: %s", strerror(errno));
        munmap(network->frames, sizeof(*network->frames));
        return 0;
    }
    network->control = fds[0];
    network->carrier = fork();
    if (network->carrier == 0) {
        close(fds[0]);
        carrier.frames  = network->frames;
        carrier.taps[0] = taps[0];
        carrier.taps[1] = taps[1];
        carrier.control = fds[1];
        run_carrier(&carrier);
    }
    close(fds[1]);
    if (network->carrier < 0) {
        check_skip(run, "no process for the network: %s", strerror(errno));
        close(network->control);
        munmap(network->frames, sizeof(*network->frames));
        return 0;
    }
    return 1;
}

int network_start(run_t *run, network_t *network)
{
    int taps[2];
    int ready;

    memset(network, 0, sizeof(*network));
    check_doing(run, "creating a network");
    if (!create_host(run, addresses[0], &network->host[0], &taps[0])) {
        return 0;
    }
    if (!create_host(run, addresses[1], &network->host[1], &taps[1])) {
        close(network->host[0]);
        close(taps[0]);
        return 0;
    }

    if (setns(network->host[0], CLONE_NEWNET) != 0) {
        check_skip(run, "a network namespace cannot be entered: %s",
                   strerror(errno));
        ready = 0;
    } else {
        ready = start_carrier(run, network, taps);
    }
    close(taps[0]);
    close(taps[1]);
    if (!ready) {
        close(network->host[0]);
        close(network->host[1]);
    }
    return ready;
}

void network_stop(network_t *network)
{
    close(network->control);
    while ((waitpid(network->carrier, NULL, 0) < 0) && (errno == EINTR)) {
    }
    munmap(network->frames, sizeof(*network->frames));
    close(network->host[0]);
    close(network->host[1]);
}

void network_set(network_t *network, network_mode_t mode)
{
    if ((send(network->control, &mode, sizeof(mode), MSG_NOSIGNAL) !=
         sizeof(mode)) ||
        (recv(network->control, &mode, sizeof(mode), 0) != sizeof(mode))) {
        _exit(1); /* The network does not exist any more: nothing can be
                   * concluded */
    }
}
