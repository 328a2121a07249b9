/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes of domains and interfaces as lines. Scripts parse these labels and
 * values, so they are the same as in other implementations of UCX.
 */
#include "devices.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "ucs/config/config.h"

enum { LABEL_WIDTH = 21, TEXT_MAX = 512 };

static void print_line(const char *label, const char *format, ...)
    UCS_F_PRINTF(2, 3);

static void print_line(const char *label, const char *format, ...)
{
    va_list ap;

    printf("#%*s: ", LABEL_WIDTH, label);
    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
    printf("\n");
}

/* Formats a size as "8K", or with all digits if it is not a multiple of a
 * unit. */
static const char *size_text(const json_t *size, char *text, size_t max)
{
    ucs_memunits_to_str((size_t)json_integer_value(size), text, max);
    return text;
}

/* Formats a range as "unlimited", "<= 8K" or "65..1G". */
static const char *range_text(const json_t *object, char *text, size_t max)
{
    const json_t *limit = json_object_get(object, "max");
    json_int_t least    = info_int(object, "min");
    char size[32];

    if (least > 0) {
        snprintf(text, max, "%" JSON_INTEGER_FORMAT "..%s", least,
                 json_is_null(limit) ? "inf" :
                                       size_text(limit, size, sizeof(size)));
    } else if (json_is_null(limit)) {
        snprintf(text, max, "unlimited");
    } else {
        snprintf(text, max, "<= %s", size_text(limit, size, sizeof(size)));
    }
    return text;
}

/* Formats a list as "a, b, c". */
static const char *list_text(const json_t *list, char *text, size_t max)
{
    size_t i, length = 0;
    json_t *item;

    text[0] = '\0';
    json_array_foreach(list, i, item) {
        if (length < max) {
            length += (size_t)snprintf(text + length, max - length, "%s%s",
                                       (i == 0) ? "" : ", ",
                                       json_string_value(item));
        }
    }
    return text;
}

/* -------------------------------------------------------------- domains -- */

/* Prints a line such as "host (access,reg), cuda (access)". */
static void print_memory_types(const json_t *types)
{
    char text[TEXT_MAX] = "";
    size_t length       = 0, i;
    const char *name;
    json_t *uses, *use;

    json_object_foreach((json_t *)(uintptr_t)types, name, uses) {
        length += (size_t)snprintf(text + length, sizeof(text) - length,
                                   "%s%s (", (length == 0) ? "" : ", ", name);
        json_array_foreach(uses, i, use) {
            length += (size_t)snprintf(text + length, sizeof(text) - length,
                                       "%s%s", (i == 0) ? "" : ",",
                                       json_string_value(use));
        }
        length += (size_t)snprintf(text + length, sizeof(text) - length, ")");
    }
    if (length > 0) {
        print_line("memory types", "%s", text);
    }
}

void info_md_attr_print(const json_t *md)
{
    const json_t *reg   = json_object_get(md, "register");
    const json_t *alloc = json_object_get(md, "allocate");
    char text[TEXT_MAX];

    if (alloc != NULL) {
        print_line("allocate", "%s", range_text(alloc, text, sizeof(text)));
    }
    if (reg != NULL) {
        print_line("register", "%s, cost: %.0f%s nsec",
                   range_text(reg, text, sizeof(text)),
                   info_real(reg, "cost_ns"),
                   (info_real(reg, "cost_ns_per_byte") > 0) ? " + size" : "");
    }
    if (json_object_get(md, "remote_key_bytes") != NULL) {
        print_line("remote key", "%" JSON_INTEGER_FORMAT " bytes",
                   info_int(md, "remote_key_bytes"));
    }
    if (json_is_true(json_object_get(md, "rkey_ptr"))) {
        printf("#           rkey_ptr is supported\n");
    }
    print_memory_types(json_object_get(md, "memory_types"));
}

/* ----------------------------------------------------------- interfaces -- */

static void print_costs(const json_t *object)
{
    const json_t *bandwidth = json_object_get(object, "bandwidth");
    const json_t *latency   = json_object_get(object, "latency");
    double growth           = info_real(latency, "ns_per_endpoint");

    print_line("bandwidth", "%.2f/ppn + %.2f MB/sec",
               info_real(bandwidth, "shared_bytes_per_second") / (1 << 20),
               info_real(bandwidth, "dedicated_bytes_per_second") / (1 << 20));
    if (growth > 0) {
        print_line("latency", "%.0f + %.3f * N nsec", info_real(latency, "ns"),
                   growth);
    } else {
        print_line("latency", "%.0f nsec", info_real(latency, "ns"));
    }
    print_line("overhead", "%.0f nsec", info_real(object, "overhead_ns"));
}

static void print_number(const char *label, const json_t *object,
                         const char *key)
{
    char text[64];

    if (json_object_get(object, key) != NULL) {
        print_line(label, "<= %s",
                   size_text(json_object_get(object, key), text, sizeof(text)));
    }
}

static void print_zcopy(const char *kind, const json_t *zcopy)
{
    const json_t *iov = json_object_get(zcopy, "max_iov");
    char label[64], text[TEXT_MAX];

    snprintf(label, sizeof(label), "%s_zcopy", kind);
    range_text(zcopy, text, sizeof(text));
    if (json_is_integer(iov)) {
        print_line(label, "%s, up to %" JSON_INTEGER_FORMAT " iov", text,
                   json_integer_value(iov));
    } else {
        print_line(label, "%s", text);
    }
    snprintf(label, sizeof(label), "%s_opt_zcopy_align", kind);
    print_number(label, zcopy, "align");
    snprintf(label, sizeof(label), "%s_align_mtu", kind);
    print_number(label, zcopy, "align_mtu");
    if (json_object_get(zcopy, "max_header") != NULL) {
        snprintf(label, sizeof(label), "%s header", kind);
        print_number(label, zcopy, "max_header");
    }
}

static void print_operation(const char *kind, const json_t *object)
{
    static const char *const names[] = {"short", "bcopy", "rndv"};
    char label[64], text[TEXT_MAX];
    const json_t *operation;
    size_t i;

    for (i = 0; i < ucs_static_array_size(names); ++i) {
        operation = json_object_get(object, names[i]);
        if (operation != NULL) {
            snprintf(label, sizeof(label), "%s_%s", kind, names[i]);
            print_line(label, "%s", range_text(operation, text, sizeof(text)));
        }
    }
    operation = json_object_get(object, "zcopy");
    if (operation != NULL) {
        print_zcopy(kind, operation);
    }
}

static void print_atomics(const json_t *atomics)
{
    json_t *widths, *operations = json_object_get(atomics, "operations");
    const char *name;
    char label[64];

    if (atomics == NULL) {
        return;
    }
    print_line("domain", "%s", info_text(atomics, "domain"));
    json_object_foreach(operations, name, widths) {
        snprintf(label, sizeof(label), "atomic_%s", name);
        if (json_array_size(widths) == 2) {
            print_line(label, "32, 64 bit");
        } else {
            print_line(label, "%" JSON_INTEGER_FORMAT " bit",
                       json_integer_value(json_array_get(widths, 0)));
        }
    }
}

static void print_address(const json_t *object, const char *label,
                          const char *key)
{
    if (json_object_get(object, key) != NULL) {
        print_line(label, "%" JSON_INTEGER_FORMAT " bytes",
                   info_int(object, key));
    }
}

static void print_words(const json_t *object, const char *label,
                        const char *key)
{
    const json_t *words = json_object_get(object, key);
    char text[TEXT_MAX];

    print_line(label, "%s",
               (json_array_size(words) == 0) ?
                   "none" :
                   list_text(words, text, sizeof(text)));
}

void info_iface_attr_print(const json_t *object)
{
    static const char *const kinds[] = {"put", "get", "am", "tag"};
    const json_t *max                = json_object_get(object, "max_endpoints");
    size_t i;

    printf("#      capabilities:\n");
    print_costs(object);
    for (i = 0; i < ucs_static_array_size(kinds); ++i) {
        print_operation(kinds[i], json_object_get(object, kinds[i]));
    }
    print_atomics(json_object_get(object, "atomics"));
    print_words(object, "connection", "connection");
    print_line("device priority", "%" JSON_INTEGER_FORMAT,
               info_int(object, "device_priority"));
    print_line("device num paths", "%" JSON_INTEGER_FORMAT,
               info_int(object, "device_num_paths"));
    if (json_is_null(max)) {
        print_line("max eps", "inf");
    } else {
        print_line("max eps", "%" JSON_INTEGER_FORMAT, json_integer_value(max));
    }
    print_address(object, "device address", "device_address_bytes");
    print_address(object, "iface address", "iface_address_bytes");
    print_address(object, "ep address", "ep_address_bytes");
    print_words(object, "error handling", "error_handling");
    print_words(object, "events", "events");
}
