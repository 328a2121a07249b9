/* SPDX-License-Identifier: BSD-3-Clause */
/* Names, defaults and help of the variables. README.md explains their use. */
#include "config.h"

#include <stddef.h>

#define FIELD(_struct, _name, _type, _member, _dflt, _min, _max, _help) \
    { \
        _name, UCX_CONFIG_##_type, offsetof(_struct, _member), _dflt, _help, \
            NULL, _min, _max, 0 \
    }
#define POSIX_MD(_name, _type, _member, _dflt, _help) \
    FIELD(shm_posix_md_config_t, _name, _type, _member, _dflt, 0, 0, _help)
#define SYSV_MD(_name, _type, _member, _dflt, _help) \
    FIELD(shm_sysv_md_config_t, _name, _type, _member, _dflt, 0, 0, _help)
#define IFACE(...) FIELD(shm_iface_config_t, __VA_ARGS__)
#define CMA(...)   FIELD(shm_cma_config_t, __VA_ARGS__)
#define COUNT(_a)  (sizeof(_a) / sizeof((_a)[0]))

#define HUGETLB_HELP \
    "Huge pages for shared memory: y takes them or fails, try takes ordinary " \
    "pages where no huge ones are free, n takes ordinary pages."

static const ucx_config_field_t posix_md_fields[] = {
    {"DIR", UCX_CONFIG_STRING, offsetof(shm_posix_md_config_t, dir), "/dev/shm",
     "Folder for shared memory that has a name; see USE_NAMES.", NULL, 0, 0,
     UCX_CONFIG_FLAG_PATH},
    POSIX_MD("USE_NAMES", TERNARY, use_names, "try",
             "Shared memory as files in DIR: y always, n never, try only if "
             "the system has no unnamed memory, or cannot pass it to peers "
             "because /proc is missing."),
    POSIX_MD("USE_PROC_LINK", BOOL, use_proc_link, "y",
             "Access the memory of other processes through /proc/PID/fd."),
    POSIX_MD("USE_SOCKET", TERNARY, use_socket, "auto",
             "Pass shared memory to peers through a local socket, which a "
             "thread serves: y always, n never, try and auto only if peers "
             "may be unable to open it through /proc, that is in a PID "
             "namespace other than the initial one or after a peer in another "
             "one was met."),
    POSIX_MD("HUGETLB_MODE", TERNARY, hugetlb_mode, "n", HUGETLB_HELP),
};

static const ucx_config_field_t sysv_md_fields[] = {
    SYSV_MD("HUGETLB_MODE", TERNARY, hugetlb_mode, "n", HUGETLB_HELP),
};

/* posix and sysv have different defaults for the number of peers. */
#define IFACE_FIELDS(_max_peers) \
    IFACE("FIFO_SIZE", UINT, fifo_size, "128", 8, 32768, \
          "Messages that one peer can have on the way, a power of two; other " \
          "values are rounded up to one."), \
        IFACE( \
            "RING_SIZE", MEMUNITS, ring_size, "2m", 4096, 1073741824, \
            "Most bytes of messages that one peer can have on the way, beside " \
            "those that fit a cache line. Memory is used as it is needed."), \
        IFACE("MAX_PEERS", UINT, max_peers, _max_peers, 1, 4096, \
              "Processes that can send to one interface. Each costs address " \
              "space; memory only from when it sends."), \
        IFACE("SEG_SIZE", MEMUNITS, seg_size, "8256", 256, 1048576, \
              "Limit of buffered (bcopy) messages."), \
        IFACE("ZCOPY_SIZE", MEMUNITS, zcopy_size, "32832", 256, 16777216, \
              "Limit of zero-copy active messages: the sender's copy goes " \
              "straight into shared memory."), \
        IFACE( \
            "NT_MIN", MEMUNITS, nt_min, "auto", 0, 0, \
            "Messages of at least this many bytes, of those that do not fit " \
            "a cache line, are written by non-temporal stores, past the " \
            "caches; auto measures whether and from which size that is " \
            "faster."), \
        IFACE( \
            "BW", BANDWIDTH, bw, "auto", 0, 0, \
            "Bandwidth of copies through shared memory, to select protocols; " \
            "auto measures it between the processes."), \
        IFACE("LATENCY", TIME, latency, "auto", 0, 0, \
              "One-way latency of a small message, to select protocols; auto " \
              "takes the measured latency of a cache line from memory."), \
        IFACE("OVERHEAD", TIME, overhead, "10ns", 0, 0, \
              "Time that a message costs the sender, to select protocols."), \
        IFACE( \
            "KEEPALIVE", TIME, keepalive, "auto", 0, 0, \
            "Time between two checks whether the peers of an interface live, " \
            "while it has endpoints or senders; inf disables them. auto takes " \
            "the keepalive interval with which the interface is opened, or 1s.")

static const ucx_config_field_t posix_fields[] = {IFACE_FIELDS("1024")};
static const ucx_config_field_t sysv_fields[]  = {IFACE_FIELDS("256")};

static const ucx_config_field_t cma_fields[] = {
    CMA("MAX_IOV", UINT, max_iov, "16", 1, 64,
        "Entries of a zero-copy operation."),
    CMA("SHARE", BOOL, share, "y", 0, 0,
        "Let both processes copy a part of large transfers: the initiator, "
        "and the other one while it is idle."),
    CMA("SHARE_THRESH", MEMUNITS, share_thresh, "32k", 0, 0,
        "One process alone makes shorter copies, and longer ones that follow "
        "each other if several in one system call are faster."),
    CMA("CHUNK", MEMUNITS, chunk, "256k", 4096, 1073741824,
        "Maximum number of bytes that a process copies at one time of a "
        "shared copy. Meanwhile it makes no other progress."),
    CMA("PTRACER", BOOL, ptracer, "y", 0, 0,
        "If kernel.yama.ptrace_scope is 1, let other processes of the same "
        "user read and write the memory of this one (and trace it), as with "
        "scope 0: otherwise only its parents can. No effect elsewhere."),
    CMA("BW", BANDWIDTH, bw, "auto", 0, 0,
        "Bandwidth of large copies, to select protocols; auto measures the "
        "kernel's copies at the first large transfer."),
    CMA("LATENCY", TIME, latency, "0", 0, 0,
        "Latency of an operation beside its overhead, to select protocols."),
    CMA("OVERHEAD", TIME, overhead, "auto", 0, 0,
        "Overhead of an operation without the copy, to select protocols; auto "
        "measures the kernel's call."),
    CMA("KEEPALIVE", TIME, keepalive, "auto", 0, 0,
        "Time between two checks whether the peers of an interface live, "
        "while it has endpoints or senders; inf disables them. auto takes "
        "the keepalive interval with which the interface is opened, or 1s."),
};

#define TABLE(_prefix, _struct, _fields) \
    { \
        .size = sizeof(ucx_config_table_t), .prefix = _prefix, \
        .options_size = sizeof(_struct), \
        .field_size = sizeof(ucx_config_field_t), .fields = _fields, \
        .num_fields = COUNT(_fields) \
    }

const ucx_config_table_t shm_posix_md_config_table =
    TABLE("POSIX_", shm_posix_md_config_t, posix_md_fields);
const ucx_config_table_t shm_sysv_md_config_table = TABLE("SYSV_",
                                                          shm_sysv_md_config_t,
                                                          sysv_md_fields);
const ucx_config_table_t shm_posix_config_table   = TABLE("POSIX_",
                                                          shm_iface_config_t,
                                                          posix_fields);
const ucx_config_table_t shm_sysv_config_table    = TABLE("SYSV_",
                                                          shm_iface_config_t,
                                                          sysv_fields);
const ucx_config_table_t shm_cma_config_table = TABLE("CMA_", shm_cma_config_t,
                                                      cma_fields);
