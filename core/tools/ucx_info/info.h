/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the modes of ucx_info. A mode is a row of the table in
 * main.c and a file: it queries the library, returns an answer in JSON, and
 * prints the answer as lines.
 */
#ifndef UCX_INFO_H
#define UCX_INFO_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include <ucp/api/ucp.h>
#include <ucs/sys/compiler_def.h>
#include <uct/api/uct.h>

#include "json_text.h"

/* Scripts depend on these numbers; the README documents them. */
enum {
    INFO_OK    = 0,
    INFO_BAD   = 1, /* a requested item could not be shown */
    INFO_USAGE = 2, /* the command line is wrong */
};

enum { INFO_MODES_MAX = 32 };

/* Location of the peer of an endpoint (-P). */
typedef enum info_place {
    INFO_PLACE_SELF,  /* this process */
    INFO_PLACE_INTRA, /* another process of this host */
    INFO_PLACE_INTER, /* another process of this host, with only those
                       * transports and devices that also reach other hosts */
} info_place_t;

typedef struct info_session info_session_t;

/* The command line. Strings are those of argv. */
typedef struct info {
    uint64_t modes; /* selected modes: bit n is row n of info_modes */
    /* -j: print one JSON object */
    int json;
    /* -a: with -c, also print variables that few people need */
    int all;
    /* -f: with -c, also print help, type and default; with -e, print all
     * protocols and the estimates */
    int full;
    /* -C: with -c, print "# " before values that are the default */
    int comment;
    const char *prefix; /* prefix of an application's variables; or NULL */
    /* -t: with -d, only this transport; with -c, load only the plugins that
     * have it; NULL: not given */
    const char *transport;
    unsigned device_types; /* -D: bit n is the uct_device_type_t n; 0: all
                            * types */
    /* -u: letters of the UCP features, as given; NULL: not given */
    const char *features;
    /* -n: expected number of endpoints; 0: not given */
    size_t num_eps;
    /* -N: expected number of processes on this machine; 0: not given */
    size_t num_ppn;
    info_place_t place; /* -P: where the peer of the endpoint is */
    /* -A: connect to this address of this machine by a listener; NULL: not
     * given */
    const char *address;
    int ipv6; /* -6: `address` is an IPv6 address */
    /* --listen: "[IP:]PORT"; "": default port; NULL: not given */
    const char *listen;
    /* --connect: "HOST[:PORT]"; NULL: not given */
    const char *connect;
    double interval; /* -i: seconds; 0: --live prints once */
    unsigned detail; /* --detail: a ucs_stats_format_t */
    int peer_fd;     /* --peer, for the second process of -P: its socket
                      * to the first; otherwise -1 */
    const char *arguments[INFO_MODES_MAX]; /* arguments of the modes, by row of
                                            * info_modes; NULL: none */
    info_session_t *session;               /* UCP objects, created on demand */
} info_t;

typedef struct info_mode {
    char letter;          /* 0: long name only */
    const char *name;     /* the long option, and the key of the answer */
    const char *argument; /* NULL: no argument */
    const char *help;
    int needs_features; /* the mode requires -u */

    /* Queries the library. Returns the exit code, and the answer in *answer_p.
     * After a failure, the answer contains what could be determined, or
     * *answer_p is not set. */
    int (*ask)(info_t *info, json_t **answer_p);
    /* Prints the answer as lines. NULL if ask() prints them itself, unless the
     * output is JSON. */
    void (*print)(const info_t *info, const json_t *answer);
} info_mode_t;

extern const info_mode_t info_modes[]; /* terminated by a row without a name */

/* Returns the argument of a mode, or NULL if the mode was not selected. */
const char *info_argument(const info_t *info, const char *mode);

/* ---- the command line (cmdline.c) ---- */

/* Returns INFO_OK to continue, -1 if nothing is left to do, otherwise the exit
 * code. */
int info_read_command_line(int argc, char **argv, info_t *info);

/* Prints an error to stderr, after the program's name. */
void info_complain(const char *format, ...) UCS_F_PRINTF(1, 2);

/* ---- the modes: ask and print ---- */

int info_version_ask(info_t *info, json_t **answer_p);
void info_version_print(const info_t *info, const json_t *answer);
int info_build_ask(info_t *info, json_t **answer_p);
void info_build_print(const info_t *info, const json_t *answer);
int info_types_ask(info_t *info, json_t **answer_p);
void info_types_print(const info_t *info, const json_t *answer);
int info_system_ask(info_t *info, json_t **answer_p);
void info_system_print(const info_t *info, const json_t *answer);
int info_topology_ask(info_t *info, json_t **answer_p);
void info_topology_print(const info_t *info, const json_t *answer);
int info_copy_ask(info_t *info, json_t **answer_p);
void info_copy_print(const info_t *info, const json_t *answer);
int info_config_ask(info_t *info, json_t **answer_p);
int info_devices_ask(info_t *info, json_t **answer_p);
void info_devices_print(const info_t *info, const json_t *answer);
int info_context_ask(info_t *info, json_t **answer_p);
int info_worker_ask(info_t *info, json_t **answer_p);
int info_endpoint_ask(info_t *info, json_t **answer_p);
void info_endpoint_print(const info_t *info, const json_t *answer);
int info_memory_ask(info_t *info, json_t **answer_p);
int info_live_ask(info_t *info, json_t **answer_p); /* prints lines itself,
                                                     * except with -j and
                                                     * without -i */

/* ---- functions that several modes use ---- */

/* As uct_query_components(), but reports a failure (select.c). */
ucs_status_t info_list_components(uct_component_h **list_p, unsigned *count_p);

/* Prints the member "lines" of an answer (lines.c). */
void info_lines_print(const info_t *info, const json_t *answer);

/* Return a member of an answer; 0, 0.0 or "" if it is absent (answer.c). */
json_int_t info_int(const json_t *object, const char *key);
double info_real(const json_t *object, const char *key);
const char *info_text(const json_t *object, const char *key);

/* Returns a number of bytes, or null (unlimited) if it is larger than any
 * memory. */
json_t *info_json_size(size_t size);

/* Returns a number, or null (unlimited) if it is not finite. */
json_t *info_json_real(double value);

#endif
