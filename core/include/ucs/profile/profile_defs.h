/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles of programs: how often places in the code are passed and how long
 * scopes take, written to a file. The macros are in profile_on.h.
 *
 * The file is text. Times are nanoseconds; those of records count from
 * ucs_profile_init().
 *
 *   # profile of process <pid> on <host>
 *   location <id> <type> <count> <total time> <file>:<line> <function> <name>
 *   lost <records that were overwritten by later ones>
 *   record <time> <thread id> <location id> <param32> <param64>
 */
#ifndef UCS_PROFILE_DEFS_H
#define UCS_PROFILE_DEFS_H

#include <stddef.h>
#include <stdint.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/** @addtogroup UCS_DEBUG
 *  @{ */

/** What is collected; bits of "mode". */
enum {
    UCS_PROFILE_MODE_ACCUM, /* counts and times of locations */
    UCS_PROFILE_MODE_LOG,   /* every record */
    UCS_PROFILE_MODE_LAST,
};

/** Names of the modes, by number, terminated by NULL. */
extern const char *ucs_profile_mode_names[];

/** What a record is about. */
typedef enum {
    UCS_PROFILE_TYPE_SAMPLE,        /* this place was passed */
    UCS_PROFILE_TYPE_SCOPE_BEGIN,   /* a scope begins in this thread */
    UCS_PROFILE_TYPE_SCOPE_END,     /* the last one that began here ends: its
                                       time is this location's */
    UCS_PROFILE_TYPE_REQUEST_NEW,   /* param64: a new request */
    UCS_PROFILE_TYPE_REQUEST_EVENT, /* something happens to it */
    UCS_PROFILE_TYPE_REQUEST_FREE,  /* it is released */
    UCS_PROFILE_TYPE_LAST,
} ucs_profile_type_t;

/** A place in the code; static and 0 at first, one at each place. */
typedef int ucs_profile_loc_id_t;

/** All profiles of a process; opaque. */
typedef struct ucs_profile_context ucs_profile_context_t;

/**
 * Begins to collect.
 *
 * @param [in]  profile_mode   Bits UCS_BIT(UCS_PROFILE_MODE_*); 0: records are
 *                             ignored and no file is written.
 * @param [in]  file_name      File; %p, %h, %e, %u and %t stand for process id,
 *                             host, program, user and time.
 * @param [in]  max_file_size  Maximum bytes of records that are kept: later
 *                             ones overwrite the oldest.
 * @param [out] ctx_p          Ended by ucs_profile_cleanup().
 *
 * @return UCS_ERR_INVALID_PARAM for unknown bits; UCS_ERR_NO_MEMORY; the status
 *         of a file name that is too long.
 */
ucs_status_t ucs_profile_init(unsigned profile_mode, const char *file_name,
                              size_t max_file_size,
                              ucs_profile_context_t **ctx_p);

/** Writes the file, if there is a mode, and releases the context. No thread may
 *  use it any more. A file that cannot be written is a warning. */
void ucs_profile_cleanup(ucs_profile_context_t *ctx);

/**
 * Makes a record; the macros of profile_on.h call it. Any thread.
 *
 * @param [in]    name      Name of the record; copied.
 * @param [in]    param32   Free for the caller, as is param64.
 * @param [in]    file      Place in the code, as are line and function.
 * @param [in,out] loc_id_p  Finds the place faster the next time.
 */
void ucs_profile_record(ucs_profile_context_t *ctx, ucs_profile_type_t type,
                        const char *name, uint32_t param32, uint64_t param64,
                        const char *file, int line, const char *function,
                        ucs_profile_loc_id_t *loc_id_p);

/** @} */

END_C_DECLS

#endif
