/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports mistakes of the caller, the program that uses the emulated driver;
 * counts its calls; injects errors; reads environment variables. */
#include "emu.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../emulated.h"

enum { MAX_FAULTS = 16, FIRST_BUS = 0x10 };

/* An error to inject; see emulated_fail(). */
typedef struct {
    char name[64]; /* Function, or "engine" */
    unsigned left; /* Number of calls until the error is returned; 0: it was
                    * returned, or `is_every` */
    int is_every;  /* Every call returns the error */
    int code;
} fault_t;

pthread_mutex_t emu_lock = PTHREAD_MUTEX_INITIALIZER;

static const char *const *call_names;
static unsigned num_calls;
static _Atomic unsigned long *call_counts;
static atomic_uint mistakes;
static _Atomic pid_t owner;

static pthread_mutex_t faults_lock = PTHREAD_MUTEX_INITIALIZER;
static fault_t faults[MAX_FAULTS];
static atomic_uint num_faults;

void emu_mistake(const char *format, ...)
{
    va_list args;
    char text[512];

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(stderr, "emulated device: mistake of the caller: %s\n", text);
    atomic_fetch_add(&mistakes, 1);
}

unsigned long emu_variable(const char *name, unsigned long dflt,
                           unsigned long max)
{
    const char *value = getenv(name);
    unsigned long number;
    char *end;

    if (value == NULL) {
        return dflt;
    }
    errno  = 0;
    number = strtoul(value, &end, 0);
    if ((errno != 0) || (end == value) || (*end != '\0') || (number > max)) {
        fprintf(stderr, "emulated device: %s=%s is not a number up to %lu\n",
                name, value, max);
        abort();
    }
    return number;
}

emu_pci_t emu_pci(unsigned index, unsigned domain)
{
    const char *list  = getenv("EMULATED_PCI");
    emu_pci_t address = {domain, FIRST_BUS + index, 0};
    unsigned i;

    for (i = 0; (list != NULL) && (i < index); ++i) {
        list = strchr(list, ',');
        list = (list == NULL) ? NULL : list + 1;
    }
    if ((list != NULL) && (sscanf(list, "%4x:%2x:%2x", &address.domain,
                                  &address.bus, &address.slot) != 3)) {
        fprintf(stderr, "emulated device: EMULATED_PCI: not dddd:bb:ss: %s\n",
                list);
        abort();
    }
    return address;
}

/* ---------------------------------------------------------------- faults -- */

EMU_API void emulated_fail(const char *name, unsigned n, int code)
{
    unsigned i;

    pthread_mutex_lock(&faults_lock);
    i = atomic_load(&num_faults);
    if (i == MAX_FAULTS) {
        fprintf(stderr, "emulated device: more than %d faults\n", MAX_FAULTS);
        abort();
    }
    snprintf(faults[i].name, sizeof(faults[i].name), "%s", name);
    faults[i].left     = n;
    faults[i].is_every = (n == 0);
    faults[i].code     = code;
    atomic_store(&num_faults, i + 1);
    pthread_mutex_unlock(&faults_lock);
}

/* Injects the errors in the environment variable EMULATED_FAIL, a
 * comma-separated list of NAME:N:CODE; see emulated_fail(). */
static void read_faults(void)
{
    const char *value = getenv("EMULATED_FAIL");
    char name[64];
    unsigned n;
    int code, length;

    while ((value != NULL) && (*value != '\0')) {
        length = 0;
        if ((sscanf(value, "%63[A-Za-z0-9_]:%u:%d%n", name, &n, &code,
                    &length) != 3) ||
            ((value[length] != ',') && (value[length] != '\0'))) {
            fprintf(stderr,
                    "emulated device: EMULATED_FAIL: not NAME:N:CODE:"
                    " %s\n",
                    value);
            abort();
        }
        emulated_fail(name, n, code);
        value += length + (value[length] == ',');
    }
}

static int fault_of(const char *name)
{
    int code = 0;
    unsigned i;

    if (atomic_load(&num_faults) == 0) {
        return 0;
    }
    pthread_mutex_lock(&faults_lock);
    for (i = 0; (i < atomic_load(&num_faults)) && (code == 0); ++i) {
        if (strcmp(faults[i].name, name) != 0) {
            continue;
        }
        if (faults[i].is_every) {
            code = faults[i].code;
        } else if ((faults[i].left > 0) && (--faults[i].left == 0)) {
            code = faults[i].code;
        }
    }
    pthread_mutex_unlock(&faults_lock);
    return code;
}

int emu_engine_fault(void)
{
    return fault_of("engine");
}

/* ----------------------------------------------------------------- calls -- */

void emu_check_init(const char *const *names, unsigned count)
{
    call_names  = names;
    num_calls   = count;
    call_counts = calloc(count, sizeof(*call_counts));
    if (call_counts == NULL) {
        abort();
    }
    read_faults();
}

void emu_check_start(void)
{
    pid_t nobody = 0;

    atomic_compare_exchange_strong(&owner, &nobody, getpid());
}

int emu_enter(unsigned call)
{
    atomic_fetch_add_explicit(&call_counts[call], 1, memory_order_relaxed);
    return fault_of(call_names[call]);
}

int emu_is_forked(void)
{
    pid_t pid = atomic_load(&owner);

    return (pid != 0) && (pid != getpid());
}

EMU_API unsigned long emulated_calls(const char *name)
{
    unsigned long sum = 0;
    unsigned i;

    for (i = 0; i < num_calls; ++i) {
        if ((name == NULL) || (strcmp(name, call_names[i]) == 0)) {
            sum += atomic_load(&call_counts[i]);
        }
    }
    return sum;
}

EMU_API unsigned emulated_mistakes(void)
{
    return atomic_load(&mistakes);
}

EMU_API void emulated_forgive(void)
{
    atomic_store(&mistakes, 0);
}

/* Writes a file with the number of calls of each function that was called, to
 * the folder that the environment variable EMULATED_COUNTS names. */
static void write_counts(void)
{
    const char *folder = getenv("EMULATED_COUNTS");
    char path[512];
    FILE *file;
    unsigned i;

    if (folder == NULL) {
        return;
    }
    snprintf(path, sizeof(path), "%s/%s.%d", folder, call_names[0],
             (int)getpid());
    file = fopen(path, "w");
    if (file == NULL) {
        emu_mistake("EMULATED_COUNTS: cannot write %s", path);
        return;
    }
    for (i = 0; i < num_calls; ++i) {
        if (atomic_load(&call_counts[i]) > 0) {
            fprintf(file, "%s %lu\n", call_names[i],
                    atomic_load(&call_counts[i]));
        }
    }
    fclose(file);
}

/* Called at the end of the process, or when the library is unloaded. In the
 * process that has called emu_check_start(): stops the engines, reports leaks
 * and writes the counts. If it has made mistakes, it ends here, with a failure
 * status. */
static void __attribute__((destructor)) finish(void)
{
    if ((call_counts == NULL) || (atomic_load(&owner) != getpid())) {
        return;
    }
    emu_engine_stop();
    emu_face_report_leaks();
    write_counts();
    free(call_counts);
    call_counts = NULL;
    num_calls   = 0;
    if (atomic_load(&mistakes) > 0) {
        fprintf(stderr, "emulated device: %u mistakes: the process fails\n",
                atomic_load(&mistakes));
        fflush(NULL);
        _exit(EMULATED_EXIT_STATUS);
    }
}
