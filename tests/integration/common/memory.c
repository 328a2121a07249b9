/* SPDX-License-Identifier: BSD-3-Clause */
/* See memory.h. */
#include "memory.h"

#include "data.h"

#include <ctype.h>
#include <dlfcn.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ZE_DRIVER "ZE_ENABLE_ALT_DRIVERS"

/* Memory types by name: those of the emulated devices, and that of
 * tests/plugins/opaque, which uses the type ROCm although no such device
 * exists. */
static const struct {
    const char *name;
    ucs_memory_type_t type;
    /* Value of EMULATED_FAIL by which the device's third copy fails */
    const char *fault;
    /* Name of the driver's library, or of a variable with its path */
    const char *driver;
} types[] = {
    {"opaque", UCS_MEMORY_TYPE_ROCM, NULL, NULL},
    {"cuda", UCS_MEMORY_TYPE_CUDA, "engine:3:700", "libcuda.so.1"},
    {"cuda-managed", UCS_MEMORY_TYPE_CUDA_MANAGED, NULL, "libcuda.so.1"},
    {"rocm", UCS_MEMORY_TYPE_ROCM, "engine:3:719", "libamdhip64.so.5"},
    {"rocm-managed", UCS_MEMORY_TYPE_ROCM_MANAGED, NULL, "libamdhip64.so.5"},
    {"ze-device", UCS_MEMORY_TYPE_ZE_DEVICE, "engine:3:1879048193", ZE_DRIVER},
    {"ze-managed", UCS_MEMORY_TYPE_ZE_MANAGED, NULL, ZE_DRIVER},
    {"ze-host", UCS_MEMORY_TYPE_ZE_HOST, NULL, ZE_DRIVER},
};

enum { NUM_TYPES = sizeof(types) / sizeof(types[0]) };

static const char *wanted_kinds(void)
{
    const char *names = getenv("TEST_MEMORY");

    return (names == NULL) ? types[0].name : names;
}

/* Returns the index in `types` of a kind, which is the kind-th name in
 * TEST_MEMORY (kind >= 1). NUM_TYPES: the list has fewer names. */
static unsigned index_of(int kind)
{
    const char *name = wanted_kinds();
    size_t length;
    unsigned i;

    for (; kind > 1; --kind) {
        name += strcspn(name, ",");
        name += (*name == ',');
    }
    length = strcspn(name, ",");
    for (i = 0; i < NUM_TYPES; ++i) {
        if ((strlen(types[i].name) == length) &&
            (strncmp(types[i].name, name, length) == 0)) {
            return i;
        }
    }
    EXPECT(length == 0);
    return NUM_TYPES;
}

int memory_kinds(void)
{
    int kinds = 1;

    while ((kinds < MEMORY_MAX_KINDS) && (index_of(kinds) < NUM_TYPES)) {
        ++kinds;
    }
    return kinds;
}

const char *memory_kind_name(int kind)
{
    return (kind == 0) ? "ordinary" : types[index_of(kind)].name;
}

int memory_size_step(void)
{
    return (memory_kinds() > MEMORY_FEW_KINDS) ? 5 : 1;
}

static bool is_emulated(void)
{
    return index_of(1) > 0;
}

bool memory_is_direct(void)
{
    return getenv("TEST_DIRECT") != NULL;
}

ucs_memory_type_t memory_kind_type(int kind)
{
    return (kind == 0) ? UCS_MEMORY_TYPE_HOST : types[index_of(kind)].type;
}

ucs_memory_type_t memory_opaque_type(void)
{
    return memory_kind_type(1);
}

ucs_memory_type_t memory_foreign_type(void)
{
    return UCS_MEMORY_TYPE_RDMA; /* no plugin supports it */
}

/* Returns the second address of emulated memory, at which the test accesses it.
 * The plugin has loaded the emulated driver, which knows the address. */
static char *emulated_view_of(const char *address, size_t length, int kind)
{
    const char *name = types[index_of(kind)].driver;
    const char *path = getenv(name);
    void *driver = dlopen((path != NULL) ? path : name, RTLD_NOW | RTLD_NOLOAD);
    void *(*view)(const void *, size_t);

    EXPECT(driver != NULL);
    *(void **)&view = dlsym(driver, "emulated_view");
    EXPECT(view != NULL);
    dlclose(driver);
    return view(address, length);
}

/* Maps the memory of tests/plugins/opaque at `address` for the test: finds its
 * file by the name "opaque-ADDRESS" among the descriptors of this process.
 * NULL: there is no such file. */
static char *view_of(const char *address, size_t length)
{
    char wanted[64], path[300], target[300];
    DIR *dir   = opendir("/proc/self/fd");
    char *view = NULL;
    struct dirent *entry;
    ssize_t size;

    EXPECT(dir != NULL);
    snprintf(wanted, sizeof(wanted), "opaque-%lx ", (unsigned long)address);
    while ((view == NULL) && ((entry = readdir(dir)) != NULL)) {
        if (!isdigit((unsigned char)entry->d_name[0])) {
            continue;
        }
        snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
        size = readlink(path, target, sizeof(target) - 1);
        target[(size > 0) ? size : 0] = '\0';
        if (strstr(target, wanted) != NULL) {
            view = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED,
                        atoi(entry->d_name), 0);
            EXPECT(view != MAP_FAILED);
        }
    }
    closedir(dir);
    return view;
}

void memory_make(struct side *side, struct memory *memory, size_t length,
                 int kind)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                      UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
        .length      = length,
        .flags       = UCP_MEM_MAP_ALLOCATE,
        .memory_type = memory_kind_type(kind),
    };
    ucp_mem_attr_t attr = {
        .field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH |
                      UCP_MEM_ATTR_FIELD_MEM_TYPE,
    };

    EXPECT_OK(ucp_mem_map(side->context, &params, &memory->memh));
    EXPECT_OK(ucp_mem_query(memory->memh, &attr));
    EXPECT_INT(attr.length, >=, length);
    EXPECT_INT(attr.mem_type, ==, params.memory_type);
    memory->address   = attr.address;
    memory->length    = length;
    memory->is_mapped = (kind > 0) && !is_emulated();
    memory->view      = (kind == 0) ? attr.address :
                        is_emulated() ?
                                      emulated_view_of(attr.address, length, kind) :
                                      view_of(attr.address, length);
    EXPECT(memory->view != NULL);
    memset(memory->view, 0, length);
}

void memory_delay(const char *amount)
{
    setenv(is_emulated() ? "EMULATED_DELAY" : "UCX_OPAQUE_DELAY", amount, 0);
}

void memory_fail(void)
{
    if (is_emulated()) {
        setenv("EMULATED_FAIL", types[index_of(1)].fault, 1);
    } else {
        setenv("UCX_OPAQUE_FAIL", "3", 1);
    }
}

void memory_drop(struct side *side, struct memory *memory)
{
    if (memory->is_mapped) {
        munmap(memory->view, memory->length);
    }
    EXPECT_OK(ucp_mem_unmap(side->context, memory->memh));
}

void memory_prepare(struct memory *memory, size_t length)
{
    memset(memory->view, 0x5a, length + MEMORY_GUARD);
}

void memory_verify(const struct memory *memory, size_t length, uint64_t message)
{
    size_t i;

    data_verify(memory->view, length, message);
    for (i = length; i < length + MEMORY_GUARD; ++i) {
        if (memory->view[i] != 0x5a) {
            FAIL("a message of %zu bytes has changed byte %zu", length, i);
        }
    }
}
