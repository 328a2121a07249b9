/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes of domains and interfaces as JSON. An unsupported operation has no
 * member; null means unlimited.
 */
#include "devices.h"

#include "ucs/type/memory_type.h"

#include <string.h>

/* A bit and its name. Arrays are terminated by a NULL name. */
typedef struct {
    uint64_t bit;
    const char *word;
} flag_t;

static json_t *flags_json(uint64_t flags, const flag_t *rows)
{
    json_t *words = json_array();

    for (; rows->word != NULL; ++rows) {
        if (flags & rows->bit) {
            json_array_append_new(words, json_string(rows->word));
        }
    }
    return words;
}

/* Converts seconds to nanoseconds, rounded to a thousandth to hide rounding
 * errors in the output. Does not use round(), which would require libm. */
static double nanoseconds(double seconds)
{
    const double longest = 1e6;

    if (!(seconds >= 0) || (seconds > longest)) {
        return seconds * 1e9;
    }
    return (double)(int64_t)(seconds * 1e12 + 0.5) / 1e3;
}

/* -------------------------------------------------------------- domains -- */

/* Lists what the domain supports for each memory type. */
static json_t *memory_types_json(const uct_md_attr_t *attr)
{
    json_t *types = json_object(), *uses;
    unsigned i;

    for (i = 0; i < UCS_MEMORY_TYPE_LAST; ++i) {
        const flag_t rows[] = {
            {attr->cap.access_mem_types & UCS_BIT(i), "access"},
            {attr->cap.alloc_mem_types & UCS_BIT(i), "alloc"},
            {attr->cap.reg_mem_types & UCS_BIT(i), "reg"},
            {attr->cap.detect_mem_types & UCS_BIT(i), "detect"},
            {0},
        };

        uses = flags_json(UCS_BIT(i), rows);
        if (json_array_size(uses) > 0) {
            json_object_set(types, ucs_memory_type_name(i), uses);
        }
        json_decref(uses);
    }
    return types;
}

void info_md_attr_json(const uct_md_attr_t *attr, json_t *md)
{
    if (attr->cap.flags & UCT_MD_FLAG_ALLOC) {
        json_object_set_new(md, "allocate",
                            json_pack("{s:o}", "max",
                                      info_json_size(attr->cap.max_alloc)));
    }
    if (attr->cap.flags & UCT_MD_FLAG_REG) {
        json_object_set_new(md, "register",
                            json_pack("{s:o, s:f, s:f}", "max",
                                      info_json_size(attr->cap.max_reg),
                                      "cost_ns", nanoseconds(attr->reg_cost.c),
                                      "cost_ns_per_byte",
                                      attr->reg_cost.m * 1e9));
    }
    if (attr->cap.flags & UCT_MD_FLAG_NEED_RKEY) {
        json_object_set_new(md, "remote_key_bytes",
                            info_json_size(attr->rkey_packed_size));
    }
    json_object_set_new(md, "rkey_ptr",
                        json_boolean((attr->cap.flags & UCT_MD_FLAG_RKEY_PTR) !=
                                     0));
    json_object_set_new(md, "memory_types", memory_types_json(attr));
}

/* ----------------------------------------------------------- interfaces -- */

static json_t *max_json(size_t max)
{
    json_t *object = json_object();

    json_object_set_new(object, "max", info_json_size(max));
    return object;
}

/* Describes the short, buffered and zero-copy variants of one kind of
 * operation. The caller shifts the flags of the interface, so that bits 0 and 1
 * state whether short and buffered are supported. `zcopy` is NULL if zero-copy
 * is not supported. */
static json_t *operation_json(uint64_t flags, size_t max_short,
                              size_t max_bcopy, json_t *zcopy)
{
    json_t *object = json_object();

    if (flags & UCS_BIT(0)) {
        json_object_set_new(object, "short", max_json(max_short));
    }
    if (flags & UCS_BIT(1)) {
        json_object_set_new(object, "bcopy", max_json(max_bcopy));
    }
    if (zcopy != NULL) {
        json_object_set_new(object, "zcopy", zcopy);
    }
    return object;
}

/* Describes zero-copy, or returns NULL if it is not supported. */
static json_t *zcopy_json(uint64_t there, size_t min, size_t max,
                          size_t max_iov, size_t align, size_t mtu)
{
    json_t *object = there ? json_object() : NULL;

    if (object != NULL) {
        json_object_set_new(object, "min", info_json_size(min));
        json_object_set_new(object, "max", info_json_size(max));
        json_object_set_new(object, "max_iov", info_json_size(max_iov));
        json_object_set_new(object, "align", info_json_size(align));
        json_object_set_new(object, "align_mtu", info_json_size(mtu));
    }
    return object;
}

static json_t *put_json(const uct_iface_attr_t *attr)
{
    return operation_json(attr->cap.flags / UCT_IFACE_FLAG_PUT_SHORT,
                          attr->cap.put.max_short, attr->cap.put.max_bcopy,
                          zcopy_json(attr->cap.flags & UCT_IFACE_FLAG_PUT_ZCOPY,
                                     attr->cap.put.min_zcopy,
                                     attr->cap.put.max_zcopy,
                                     attr->cap.put.max_iov,
                                     attr->cap.put.opt_zcopy_align,
                                     attr->cap.put.align_mtu));
}

static json_t *get_json(const uct_iface_attr_t *attr)
{
    return operation_json(attr->cap.flags / UCT_IFACE_FLAG_GET_SHORT,
                          attr->cap.get.max_short, attr->cap.get.max_bcopy,
                          zcopy_json(attr->cap.flags & UCT_IFACE_FLAG_GET_ZCOPY,
                                     attr->cap.get.min_zcopy,
                                     attr->cap.get.max_zcopy,
                                     attr->cap.get.max_iov,
                                     attr->cap.get.opt_zcopy_align,
                                     attr->cap.get.align_mtu));
}

static json_t *am_json(const uct_iface_attr_t *attr)
{
    json_t *zcopy = zcopy_json(attr->cap.flags & UCT_IFACE_FLAG_AM_ZCOPY,
                               attr->cap.am.min_zcopy, attr->cap.am.max_zcopy,
                               attr->cap.am.max_iov,
                               attr->cap.am.opt_zcopy_align,
                               attr->cap.am.align_mtu);

    if (zcopy != NULL) {
        json_object_set_new(zcopy, "max_header",
                            info_json_size(attr->cap.am.max_hdr));
    }
    return operation_json(attr->cap.flags / UCT_IFACE_FLAG_AM_SHORT,
                          attr->cap.am.max_short, attr->cap.am.max_bcopy,
                          zcopy);
}

static json_t *tag_json(const uct_iface_attr_t *attr)
{
    json_t *zcopy = NULL, *object;

    if (attr->cap.flags & UCT_IFACE_FLAG_TAG_EAGER_ZCOPY) {
        zcopy = json_pack("{s:o, s:o}", "max",
                          info_json_size(attr->cap.tag.eager.max_zcopy),
                          "max_iov",
                          info_json_size(attr->cap.tag.eager.max_iov));
    }
    object = operation_json(attr->cap.flags / UCT_IFACE_FLAG_TAG_EAGER_SHORT,
                            attr->cap.tag.eager.max_short,
                            attr->cap.tag.eager.max_bcopy, zcopy);

    if (attr->cap.flags & UCT_IFACE_FLAG_TAG_RNDV_ZCOPY) {
        json_object_set_new(
            object, "rndv",
            json_pack("{s:o, s:o, s:o}", "max",
                      info_json_size(attr->cap.tag.rndv.max_zcopy), "max_iov",
                      info_json_size(attr->cap.tag.rndv.max_iov), "max_header",
                      info_json_size(attr->cap.tag.rndv.max_hdr)));
    }
    return object;
}

/* Returns the supported widths of an operation, in bits. */
static json_t *widths_json(uint64_t narrow, uint64_t wide, unsigned op)
{
    json_t *widths = json_array();

    if (narrow & UCS_BIT(op)) {
        json_array_append_new(widths, json_integer(32));
    }
    if (wide & UCS_BIT(op)) {
        json_array_append_new(widths, json_integer(64));
    }
    return widths;
}

/* Describes the atomic operations. Returns NULL if the interface has none. */
static json_t *atomics_json(const uct_iface_attr_t *attr)
{
    static const struct {
        const char *name;
        uct_atomic_op_t op;
        int fetches;
    } rows[] = {
        {"add", UCT_ATOMIC_OP_ADD, 0},   {"and", UCT_ATOMIC_OP_AND, 0},
        {"or", UCT_ATOMIC_OP_OR, 0},     {"xor", UCT_ATOMIC_OP_XOR, 0},
        {"fadd", UCT_ATOMIC_OP_ADD, 1},  {"fand", UCT_ATOMIC_OP_AND, 1},
        {"for", UCT_ATOMIC_OP_OR, 1},    {"fxor", UCT_ATOMIC_OP_XOR, 1},
        {"swap", UCT_ATOMIC_OP_SWAP, 1}, {"cswap", UCT_ATOMIC_OP_CSWAP, 1},
    };
    json_t *object, *operations, *widths;
    size_t i;

    if (!(attr->cap.flags &
          (UCT_IFACE_FLAG_ATOMIC_CPU | UCT_IFACE_FLAG_ATOMIC_DEVICE))) {
        return NULL;
    }

    operations = json_object();
    for (i = 0; i < ucs_static_array_size(rows); ++i) {
        widths = rows[i].fetches ?
                     widths_json(attr->cap.atomic32.fop_flags,
                                 attr->cap.atomic64.fop_flags, rows[i].op) :
                     widths_json(attr->cap.atomic32.op_flags,
                                 attr->cap.atomic64.op_flags, rows[i].op);
        if (json_array_size(widths) > 0) {
            json_object_set(operations, rows[i].name, widths);
        }
        json_decref(widths);
    }
    object = json_pack("{s:s, s:o}", "domain",
                       (attr->cap.flags & UCT_IFACE_FLAG_ATOMIC_DEVICE) ?
                           "device" :
                           "cpu",
                       "operations", operations);
    return object;
}

/* Adds the supported kinds of operations. */
static void add_operations(const uct_iface_attr_t *attr, json_t *object)
{
    static const struct {
        const char *name;
        json_t *(*make)(const uct_iface_attr_t *attr);
    } rows[] = {
        {"put", put_json}, {"get", get_json},         {"am", am_json},
        {"tag", tag_json}, {"atomics", atomics_json},
    };
    json_t *kind;
    size_t i;

    for (i = 0; i < ucs_static_array_size(rows); ++i) {
        kind = rows[i].make(attr);
        if (json_object_size(kind) > 0) {
            json_object_set(object, rows[i].name, kind);
        }
        json_decref(kind);
    }
}

static void add_words(const uct_iface_attr_t *attr, json_t *object)
{
    static const flag_t connections[] = {
        {UCT_IFACE_FLAG_CONNECT_TO_EP, "to ep"},
        {UCT_IFACE_FLAG_CONNECT_TO_IFACE, "to iface"},
        {UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR, "to sockaddr"},
        {0},
    };
    static const flag_t errors[] = {
        {UCT_IFACE_FLAG_ERRHANDLE_SHORT_BUF, "short buffer"},
        {UCT_IFACE_FLAG_ERRHANDLE_BCOPY_BUF, "bcopy buffer"},
        {UCT_IFACE_FLAG_ERRHANDLE_ZCOPY_BUF, "zcopy buffer"},
        {UCT_IFACE_FLAG_ERRHANDLE_BCOPY_LEN, "bcopy length"},
        {UCT_IFACE_FLAG_ERRHANDLE_AM_ID, "active-message id"},
        {UCT_IFACE_FLAG_ERRHANDLE_REMOTE_MEM, "remote access"},
        {UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE, "peer failure"},
        {UCT_IFACE_FLAG_EP_CHECK, "ep_check"},
        {UCT_IFACE_FLAG_EP_KEEPALIVE, "keepalive"},
        {0},
    };
    static const flag_t events[] = {
        {UCT_IFACE_FLAG_EVENT_SEND_COMP, "send completion"},
        {UCT_IFACE_FLAG_EVENT_RECV, "receive"},
        {UCT_IFACE_FLAG_EVENT_RECV_SIG, "signalled receive"},
        {UCT_IFACE_FLAG_EVENT_FD, "by descriptor"},
        {UCT_IFACE_FLAG_EVENT_ASYNC_CB, "by callback"},
        {0},
    };

    json_object_set_new(object, "connection",
                        flags_json(attr->cap.flags, connections));
    json_object_set_new(object, "error_handling",
                        flags_json(attr->cap.flags, errors));
    json_object_set_new(object, "events",
                        flags_json(attr->cap.event_flags, events));
}

json_t *info_iface_attr_json(const uct_iface_attr_t *attr)
{
    json_t *object = json_pack("{s:{s:o, s:o}, s:{s:f, s:f}, s:f}", "bandwidth",
                               "dedicated_bytes_per_second",
                               info_json_real(attr->bandwidth.dedicated),
                               "shared_bytes_per_second",
                               info_json_real(attr->bandwidth.shared),
                               "latency", "ns", nanoseconds(attr->latency.c),
                               "ns_per_endpoint", attr->latency.m * 1e9,
                               "overhead_ns", nanoseconds(attr->overhead));

    add_operations(attr, object);
    add_words(attr, object);
    json_object_set_new(object, "device_priority",
                        json_integer(attr->priority));
    json_object_set_new(object, "device_num_paths",
                        json_integer(attr->dev_num_paths));
    json_object_set_new(object, "max_endpoints",
                        info_json_size(attr->max_num_eps));
    json_object_set_new(object, "device_address_bytes",
                        info_json_size(attr->device_addr_len));
    if (attr->cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE) {
        json_object_set_new(object, "iface_address_bytes",
                            info_json_size(attr->iface_addr_len));
    }
    if (attr->cap.flags & UCT_IFACE_FLAG_CONNECT_TO_EP) {
        json_object_set_new(object, "ep_address_bytes",
                            info_json_size(attr->ep_addr_len));
    }
    return object;
}
