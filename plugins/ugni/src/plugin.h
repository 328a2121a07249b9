/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by all files of this plugin: the plugin's instance for one core, the
 * memory domain with its devices, and the options. The core is the UCX library
 * that loads the plugin. A function that uses the log macros (ucx_error() etc.)
 * needs a variable `host`, because the macros log through UCX_LOG_HOST.
 */
#ifndef UGNI_PLUGIN_H
#define UGNI_PLUGIN_H

#define UCX_LOG_HOST host

#include <ucx/count.h>
#include <ucx/instance.h>
#include <ucx/log.h>

#include <rdma/fabric.h>

#define UGNI_NAME "ugni"

/* Upper limit of UCX_UGNI_SEG_SIZE in bytes. Larger messages would not be
 * faster, and each receive buffer has the configured size. */
enum { UGNI_MAX_SEG = 1 << 20 };

#define ugni_container_of(_ptr, _type, _member) \
    ((_type *)((char *)(_ptr)-offsetof(_type, _member)))

/* State of the plugin for one core. */
typedef struct ugni_instance {
    ucx_instance_t super;
    ucx_component_t component;
    const ucx_component_t *components[1]; /* For ucx_plugin_t.components */
} ugni_instance_t;

/* Returns the services of the core that loaded the component. */
static inline const ucx_host_t *ugni_host(const ucx_component_t *component)
{
    return ugni_container_of(component, ugni_instance_t, component)->super.host;
}

/* UCX_UGNI_*: variables of the memory domain; config.c describes them. */
typedef struct ugni_md_config {
    char *provider; /* Name of the provider; empty: cxi, or gni without cxi */
    /* UCS_NO, UCS_YES, UCS_TRY or UCS_AUTO */
    int rcache;     /* Cache registrations */
    int multi_recv; /* Use FI_MULTI_RECV */
    int hmem;       /* Use FI_HMEM */
    int tm_enable;  /* Use FI_TAGGED */
} ugni_md_config_t;

/* A domain of libfabric. It is opened at its first use by an interface, a
 * registration or hmem.c, and closed with the memory domain (ugni_md_t). */
typedef struct ugni_device {
    struct fi_info *info;       /* Result of fi_getinfo() for this domain */
    struct fid_fabric *fabric;  /* NULL: not opened yet */
    struct fid_domain *domain;  /* NULL: not opened yet */
    struct ugni_target *target; /* The endpoint through which peers access
                                 * memory (mem.h); NULL: not used */
} ugni_device_t;

enum { UGNI_MAX_DEVICES = 32 };

/* The memory domain: one provider of libfabric and all its devices. */
typedef struct ugni_md {
    uct_md_t super;
    const ucx_host_t *host;
    /* The values of ugni_md_config_t */
    char *provider;
    int wants_rcache;
    int wants_multi_recv;
    int wants_hmem;
    int wants_tags;
    ucx_rcache_t *rcache; /* NULL: no cache */
    pthread_mutex_t lock; /* Protects the members below */
    int is_listed;        /* The devices were queried: the members up to
                           * `devices` are set */
    uint64_t caps;        /* Optional capabilities that are used: FI_MULTI_RECV,
                           * FI_HMEM, FI_TAGGED */
    uint64_t mr_mode;     /* FI_MR_* that the provider demands */
    int has_targets;      /* Peers access memory through ugni_device_t.target */
    size_t raw_key;       /* Bytes of a key with FI_MR_RAW; otherwise 0 */
    uint64_t hmem;        /* Types of accelerator memory that can be registered:
                           * the bit 1 << ucs_memory_type_t for each */
    unsigned num_devices; /* Number of entries of `devices` */
    ugni_device_t devices[UGNI_MAX_DEVICES];
    struct ugni_port *ports;       /* List of all open ports (iface.h) */
    struct ugni_mem *mems;         /* List of all registered memory (mem.h) */
    struct ugni_mapping *mappings; /* List of all mapped raw keys (mem.h) */
} ugni_md_t;

/* UCX_UGNI_*: variables of an interface; config.c describes them. */
typedef struct ugni_config {
    size_t seg_size;       /* Maximum bytes of an active message, and of a put
                            * or get with a copy */
    unsigned tx_queue_len; /* Maximum number of outstanding operations of an
                            * interface */
    unsigned rx_queue_len; /* Number of receive buffers of an interface */
    double timeout;        /* Seconds until a peer counts as lost, while sends
                            * to it are outstanding and none completes; and
                            * until a message counts as lost, while a later one
                            * of the same sender waits for it */
    double user_timeout;   /* Seconds without an acknowledgement by TCP until
                            * the peer is lost */
    double linger;         /* Seconds for which the close of an interface, and a
                            * failed endpoint, waits for sends, at most */
} ugni_config_t;

static inline size_t ugni_min(size_t a, size_t b)
{
    return (a < b) ? a : b;
}

ucs_status_t ugni_md_resources(const ucx_component_t *component,
                               uct_md_resource_desc_t **mds_p, unsigned *num_p);
ucs_status_t ugni_md_open(const ucx_component_t *component,
                          const ucx_md_open_args_t *args, uct_md_h *md_p);

/* device.c */
ucs_status_t ugni_query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                unsigned *num_p);
ucs_status_t ugni_query_rdma_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                     unsigned *num_p);
/* Returns the device `name`, and opens it if it is not open. Any thread may
 * call this function. */
ucs_status_t ugni_device_get(ugni_md_t *md, const char *name,
                             ugni_device_t **device_p);
/* Queries the devices from libfabric at the first call; later calls do nothing.
 * The caller holds the lock. */
void ugni_devices_list(ugni_md_t *md);
ucs_status_t ugni_device_open(ugni_md_t *md, ugni_device_t *device);
void ugni_devices_close(ugni_md_t *md);

/* mem.c: registration */
ucs_status_t ugni_mem_reg(uct_md_h md, void *address, size_t length,
                          const ucx_mem_reg_params_t *params,
                          uct_mem_h *memh_p);
ucs_status_t ugni_mem_dereg(uct_md_h md, uct_mem_h memh,
                            const ucx_mem_dereg_params_t *params);
/* key.c: keys, packed and unpacked */
size_t ugni_key_size(const ugni_md_t *md);
/* Unmaps the raw keys that the memory domain has mapped. The remote keys that
 * use these mappings can only be released afterwards. */
void ugni_mappings_drop(ugni_md_t *md);
ucs_status_t ugni_mkey_pack(uct_md_h md, uct_mem_h memh, void *address,
                            size_t length, unsigned flags, void *buffer);
ucs_status_t ugni_rkey_unpack(const ucx_component_t *component,
                              const void *buffer, size_t length,
                              ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                              void **handle_p);
ucs_status_t ugni_rkey_release(const ucx_component_t *component,
                               uct_rkey_t rkey, void *handle);
ucs_status_t ugni_rkey_compare(const ucx_component_t *component, uct_rkey_t a,
                               uct_rkey_t b, int *result);

/* hmem.c: sets md->hmem. Called if the provider has FI_HMEM. The caller holds
 * the lock. */
void ugni_hmem_probe(ugni_md_t *md);

extern const ucx_md_ops_t ugni_md_ops;
extern const ucx_config_table_t ugni_md_config_table;
extern const ucx_config_table_t ugni_config_table;
extern const ucx_transport_t ugni_smsg_transport;
extern const ucx_transport_t ugni_rdma_transport;

#endif
