/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the modes of ucx_info share. A mode is a row of the table in main.c and
 * a file: it asks, which gives an answer in JSON, and prints the answer as
 * lines for people.
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

/* Scripts rely on these numbers; the README explains them. */
enum {
    INFO_OK    = 0,
    INFO_BAD   = 1, /* something that was asked for could not be shown */
    INFO_USAGE = 2  /* the command line makes no sense */
};

enum { INFO_MODES_MAX = 32 };

/* Where the other end of an endpoint is (-P). */
typedef enum info_place {
    INFO_PLACE_SELF,  /* this process */
    INFO_PLACE_INTRA, /* another process of this host */
    INFO_PLACE_INTER  /* another host, as far as one host can tell */
} info_place_t;

typedef struct info_session info_session_t;

/* The command line. Texts are those of argv. */
typedef struct info {
    uint64_t asked;          /* modes, bits by their row */
    int json;
    int all;                 /* -a */
    int full;                /* -f */
    int comment;             /* -C */
    const char *prefix;      /* of an application's variables; or NULL */
    const char *transport;   /* -t; or NULL */
    unsigned device_types;   /* -D: bits by uct_device_type_t */
    const char *features;    /* -u, as it was given; or NULL */
    size_t num_eps;          /* -n; 0: not said, like the next */
    size_t num_ppn;          /* -N */
    info_place_t place;      /* -P */
    const char *address;     /* -A; or NULL */
    int ipv6;                /* -6 */
    const char *listen;      /* --listen: "" for the usual port; or NULL */
    const char *connect;     /* --connect; or NULL */
    double interval;         /* -i: seconds; 0: --live shows once */
    unsigned detail;         /* --detail: a ucs_stats_format_t */
    int peer_fd;             /* the other end of a -P: its socket; or -1 */
    const char *arguments[INFO_MODES_MAX]; /* of the modes that take one */
    info_session_t *session; /* UCP objects, made when they are needed */
} info_t;

typedef struct info_mode {
    char letter;          /* 0: known by its name alone */
    const char *name;     /* the long option, and the key of the answer */
    const char *argument; /* NULL: takes none */
    const char *help;
    int needs_features;   /* -u has to be there */

    /* Gives the exit code, and the answer if there is (part of) one. */
    int (*ask)(info_t *info, json_t **answer_p);
    /* NULL: ask has printed what there is to print, unless it is for JSON. */
    void (*print)(const info_t *info, const json_t *answer);
} info_mode_t;

extern const info_mode_t info_modes[]; /* ends with a row without a name */

/* What the mode was asked with; NULL if it was not. */
const char *info_argument(const info_t *info, const char *mode);

/* ---- the command line (cmdline.c) ---- */

/* INFO_OK: go on; -1: done already; otherwise the exit code. */
int info_read_command_line(int argc, char **argv, info_t *info);

/* Says on stderr what is wrong, after the program's name. */
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
int info_live_ask(info_t *info, json_t **answer_p); /* prints lines itself */

/* ---- what several modes use ---- */

/* As uct_query_components; says why if there is no list (select.c). */
ucs_status_t info_list_components(uct_component_h **list_p, unsigned *count_p);

/* Prints the member "lines" of an answer (lines.c). */
void info_lines_print(const info_t *info, const json_t *answer);

/* Members of an answer; 0, 0.0 or "" where there is none (answer.c). */
json_int_t info_int(const json_t *object, const char *key);
double info_real(const json_t *object, const char *key);
const char *info_text(const json_t *object, const char *key);

/* A number of bytes; what no memory can hold is null: no limit. */
json_t *info_json_size(size_t size);

/* A number; one that is not finite is null: no limit. */
json_t *info_json_real(double value);

#endif
