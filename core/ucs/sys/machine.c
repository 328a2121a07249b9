/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of processors and products, from /proc/cpuinfo and the firmware. */
#include "ucs/sys/machine.h"

#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/sys/sys.h"

#define PRODUCT_FILE "/sys/devices/virtual/dmi/id/product_name"

const char *const ucs_machine_labels[] = {"CPU vendor", "CPU model",
                                          "Product name", NULL};

/* The first processor's entry in /proc/cpuinfo. An absent number is -1, an
 * absent text "". */
typedef struct {
    char vendor_id[32];
    char name[UCS_MACHINE_TEXT_MAX]; /* "model name"; "cpu" on POWER */
    long family;                     /* "cpu family" and "model": x86 only */
    long model;
    long implementer; /* "CPU implementer" and "CPU part": ARM only */
    long part;
} cpu_t;

/* The properties. The first query reads them; they do not change after that. */
static struct {
    pthread_once_t once;
    cpu_t cpu;
    char product[UCS_MACHINE_TEXT_MAX];
} machine = {.once = PTHREAD_ONCE_INIT};

/* The name of the x86 processors of one family and a range of models. */
typedef struct {
    long family;
    long first, last; /* models, inclusive */
    const char *name;
} cpu_range_t;

static const cpu_range_t intel_models[] = {
    {6, 0x1a, 0x1a, "Nehalem"},         {6, 0x1e, 0x1f, "Nehalem"},
    {6, 0x2e, 0x2e, "Nehalem"},         {6, 0x25, 0x25, "Westmere"},
    {6, 0x2c, 0x2c, "Westmere"},        {6, 0x2f, 0x2f, "Westmere"},
    {6, 0x2a, 0x2a, "SandyBridge"},     {6, 0x2d, 0x2d, "SandyBridge"},
    {6, 0x3a, 0x3a, "IvyBridge"},       {6, 0x3e, 0x3e, "IvyBridge"},
    {6, 0x3c, 0x3c, "Haswell"},         {6, 0x3f, 0x3f, "Haswell"},
    {6, 0x45, 0x46, "Haswell"},         {6, 0x3d, 0x3d, "Broadwell"},
    {6, 0x47, 0x47, "Broadwell"},       {6, 0x4f, 0x4f, "Broadwell"},
    {6, 0x56, 0x56, "Broadwell"},       {6, 0x4e, 0x4e, "Skylake"},
    {6, 0x55, 0x55, "Skylake"},         {6, 0x5e, 0x5e, "Skylake"},
    {6, 0x6a, 0x6a, "Icelake"},         {6, 0x6c, 0x6c, "Icelake"},
    {6, 0x8f, 0x8f, "Sapphire Rapids"}, {6, 0xcf, 0xcf, "Emerald Rapids"},
    {6, 0xad, 0xae, "Granite Rapids"},
};

static const cpu_range_t amd_models[] = {
    {23, 0x00, 0x0f, "Naples"},  {23, 0x30, 0x3f, "Rome"},
    {25, 0x00, 0x0f, "Milan"},   {25, 0x10, 0x1f, "Genoa"},
    {25, 0xa0, 0xaf, "Bergamo"}, {26, 0x00, 0x1f, "Turin"},
};

/* Stores one line of /proc/cpuinfo. */
static void cpu_take(cpu_t *cpu, const char *name, const char *value)
{
    if (!strcmp(name, "vendor_id")) {
        ucs_strncpy_zero(cpu->vendor_id, value, sizeof(cpu->vendor_id));
    } else if (!strcmp(name, "model name") || !strcmp(name, "cpu")) {
        ucs_strncpy_zero(cpu->name, value, sizeof(cpu->name));
    } else if (!strcmp(name, "cpu family")) {
        cpu->family = strtol(value, NULL, 0);
    } else if (!strcmp(name, "model")) {
        cpu->model = strtol(value, NULL, 0);
    } else if (!strcmp(name, "CPU implementer")) {
        cpu->implementer = strtol(value, NULL, 0);
    } else if (!strcmp(name, "CPU part")) {
        cpu->part = strtol(value, NULL, 0);
    }
}

/* Reads the first processor's entry. Its lines are "name\t: value"; an empty
 * line ends it. */
static void cpu_read(cpu_t *cpu)
{
    FILE *stream = fopen("/proc/cpuinfo", "re");
    char line[512], *value;
    size_t length;

    memset(cpu, 0, sizeof(*cpu));
    cpu->family = cpu->model = cpu->implementer = cpu->part = -1;
    if (stream == NULL) {
        return;
    }

    while ((fgets(line, sizeof(line), stream) != NULL) && (line[0] != '\n')) {
        line[strcspn(line, "\n")] = '\0';
        value                     = strchr(line, ':');
        if (value == NULL) {
            continue;
        }
        length = (size_t)(value - line);
        while ((length > 0) && (strchr(" \t", line[length - 1]) != NULL)) {
            --length;
        }
        line[length] = '\0';
        ++value;
        cpu_take(cpu, line, value + strspn(value, " \t"));
    }

    fclose(stream);
}

static int is_vendor(const cpu_t *cpu, const char *id)
{
    return !strcmp(cpu->vendor_id, id);
}

static const char *cpu_vendor(const cpu_t *cpu)
{
    return is_vendor(cpu, "GenuineIntel")  ? "Intel" :
           is_vendor(cpu, "AuthenticAMD")  ? "AMD" :
           is_vendor(cpu, "HygonGenuine")  ? "Hygon" :
           is_vendor(cpu, "CentaurHauls")  ? "Zhaoxin" :
           is_vendor(cpu, "  Shanghai  ")  ? "Zhaoxin" :
           (cpu->implementer == 0x46)      ? "Fujitsu ARM" :
           (cpu->implementer == 0x4e)      ? "Nvidia" :
           (cpu->implementer >= 0)         ? "Generic ARM" :
           !strncmp(cpu->name, "POWER", 5) ? "Generic PPC" :
                                             "unknown";
}

static const char *find_model(const cpu_t *cpu, const cpu_range_t *ranges,
                              size_t count)
{
    size_t i;

    for (i = 0; i < count; ++i) {
        if ((ranges[i].family == cpu->family) &&
            (ranges[i].first <= cpu->model) && (cpu->model <= ranges[i].last)) {
            return ranges[i].name;
        }
    }

    return "Generic";
}

static const char *cpu_model(const cpu_t *cpu)
{
    if (is_vendor(cpu, "GenuineIntel")) {
        return find_model(cpu, intel_models,
                          ucs_static_array_size(intel_models));
    } else if (is_vendor(cpu, "AuthenticAMD")) {
        return find_model(cpu, amd_models, ucs_static_array_size(amd_models));
    } else if ((cpu->implementer == 0x41) && (cpu->part == 0xd4f)) {
        return "Grace"; /* 0xd4f is the core Arm Neoverse V2, which Grace
                         * uses */
    }

    return "Generic";
}

static void machine_read(void)
{
    cpu_read(&machine.cpu);
    if (ucs_read_file_line(PRODUCT_FILE, machine.product,
                           sizeof(machine.product)) != UCS_OK) {
        strcpy(machine.product, "unknown");
    }
}

const char *ucs_machine_get(ucs_machine_fact_t fact)
{
    pthread_once(&machine.once, machine_read);
    switch (fact) {
    case UCS_MACHINE_CPU_VENDOR:
        return cpu_vendor(&machine.cpu);
    case UCS_MACHINE_CPU_MODEL:
        return cpu_model(&machine.cpu);
    default:
        return machine.product;
    }
}

int ucs_machine_matches(ucs_machine_fact_t fact, const char *pattern)
{
    if (fnmatch(pattern, ucs_machine_get(fact), 0) == 0) {
        return 1;
    }

    return (fact == UCS_MACHINE_CPU_MODEL) && (machine.cpu.name[0] != '\0') &&
           (fnmatch(pattern, machine.cpu.name, 0) == 0);
}
