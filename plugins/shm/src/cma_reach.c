/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses, and reachability of a peer. Reachability is tested by reading two
 * words of the peer's memory, because the kernel has many rules about
 * permissions.
 */
#include "cma.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* Returns the same length with and without an inbox: peers that do not exchange
 * lengths use the length of their own address. */
size_t cma_iface_address_length(const cma_iface_t *iface)
{
    return sizeof(cma_wire_iface_t) +
           (iface->md->has_space ? shm_seg_address_length(&iface->md->space) :
                                   0);
}

ucs_status_t cma_iface_get_device_address(uct_iface_h uct_iface,
                                          uct_device_addr_t *addr)
{
    cma_iface_t *iface = cma_iface(uct_iface);
    cma_wire_device_t wire;

    wire.machine = htole64(iface->host->machine_guid());
    wire.pid_ns  = htole32((uint32_t)iface->md->pid_ns);
    memcpy(addr, &wire, sizeof(wire));
    return UCS_OK;
}

ucs_status_t cma_iface_get_address(uct_iface_h uct_iface,
                                   uct_iface_addr_t *addr)
{
    cma_iface_t *iface = cma_iface(uct_iface);
    cma_wire_iface_t wire;

    wire.pid   = htole32((uint32_t)iface->pid);
    wire.flags = iface->has_inbox ? CMA_WIRE_INBOX : 0;
    wire.token = htole64(iface->md->words.token);
    wire.words = htole64((uintptr_t)&iface->md->words);
    memset(addr, 0, cma_iface_address_length(iface));
    memcpy(addr, &wire, sizeof(wire));
    if (iface->has_inbox) {
        shm_seg_address(&iface->inbox.seg, (char *)addr + sizeof(wire));
    }
    return UCS_OK;
}

ucs_status_t cma_address_unpack(const void *address, size_t length,
                                cma_wire_iface_t *wire)
{
    if (length < sizeof(*wire)) {
        return UCS_ERR_INVALID_ADDR;
    }
    memcpy(wire, address, sizeof(*wire));
    wire->pid   = le32toh(wire->pid);
    wire->token = le64toh(wire->token);
    wire->words = le64toh(wire->words);
    if ((wire->pid == 0) || (wire->pid > INT32_MAX) || (wire->token == 0)) {
        return UCS_ERR_INVALID_ADDR;
    }
    return UCS_OK;
}

static int __attribute__((format(printf, 3, 4)))
refuse(char *reason, size_t reason_size, const char *format, ...)
{
    va_list ap;

    if ((reason != NULL) && (reason_size > 0)) {
        va_start(ap, format);
        vsnprintf(reason, reason_size, format, ap);
        va_end(ap);
    }
    return 0;
}

/* Returns the digit in Yama's setting ptrace_scope; ' ' if it cannot be
 * read. */
static char ptrace_scope(void)
{
    char scope = ' ';
    int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        if (read(fd, &scope, 1) != 1) {
            scope = ' ';
        }
        close(fd);
    }
    return scope;
}

static void refuse_probe(pid_t pid, ucs_status_t status, char *reason,
                         size_t reason_size)
{
    char scope;

    switch (status) {
    case UCS_ERR_CONNECTION_RESET:
        refuse(reason, reason_size, "there is no process %d here", (int)pid);
        break;
    case UCS_ERR_REJECTED:
        scope = ptrace_scope();
        if ((scope > '0') && (scope <= '9')) {
            refuse(reason, reason_size,
                   "reading process %d is not permitted "
                   "(kernel.yama.ptrace_scope is %c)",
                   (int)pid, scope);
        } else {
            refuse(reason, reason_size,
                   "reading process %d is not permitted "
                   "(another user, not dumpable, or seccomp)",
                   (int)pid);
        }
        break;
    case UCS_ERR_UNSUPPORTED:
        refuse(reason, reason_size,
               "the system has no process_vm_readv, or "
               "seccomp forbids it");
        break;
    default:
        refuse(reason, reason_size,
               "process %d does not have the expected "
               "data at the address",
               (int)pid);
        break;
    }
}

ucs_status_t cma_probe(pid_t pid, uint64_t address, uint64_t token,
                       uint64_t *secret_p, char *reason, size_t reason_size)
{
    cma_words_t words;
    ucs_status_t status;

    status = cma_read_words(pid, address, &words);
    if (status != UCS_OK) {
        refuse_probe(pid, status, reason, reason_size);
        return UCS_ERR_UNREACHABLE;
    }
    if (words.token != token) {
        refuse(reason, reason_size, "process %d is another one", (int)pid);
        return UCS_ERR_UNREACHABLE;
    }
    *secret_p = words.secret;
    return UCS_OK;
}

/* Returns whether the process already is a peer: then it is reachable, and no
 * system call is needed. */
static int is_known(const cma_iface_t *iface, const cma_wire_iface_t *wire)
{
    const cma_peer_t *peer;

    for (peer = iface->peers; peer != NULL; peer = peer->next) {
        if ((peer->token == wire->token) && (peer->pid == (pid_t)wire->pid) &&
            (peer->words == wire->words) && (peer->status == UCS_OK)) {
            return 1;
        }
    }
    return 0;
}

int cma_iface_is_reachable(uct_iface_h uct_iface,
                           const ucx_reachable_args_t *args)
{
    cma_iface_t *iface     = cma_iface(uct_iface);
    const ucx_host_t *host = iface->host;
    cma_wire_device_t device;
    cma_wire_iface_t wire;
    uint64_t secret;

    if ((args->dev_addr == NULL) || (args->dev_addr_length < sizeof(device))) {
        return refuse(args->reason, args->reason_size,
                      "not an address of this transport");
    }
    memcpy(&device, args->dev_addr, sizeof(device));
    if (le64toh(device.machine) != host->machine_guid()) {
        return refuse(args->reason, args->reason_size, "it is on another host");
    }
    if ((device.pid_ns != 0) && (iface->md->pid_ns != 0) &&
        (le32toh(device.pid_ns) != (uint32_t)iface->md->pid_ns)) {
        return refuse(args->reason, args->reason_size,
                      "it is in another PID namespace");
    }
    if (args->iface_addr == NULL) {
        return 1;
    }

    if (cma_address_unpack(args->iface_addr, args->iface_addr_length, &wire) !=
        UCS_OK) {
        return refuse(args->reason, args->reason_size,
                      "not an address of this transport");
    }
    return is_known(iface, &wire) ||
           (cma_probe((pid_t)wire.pid, wire.words, wire.token, &secret,
                      args->reason, args->reason_size) == UCS_OK);
}
