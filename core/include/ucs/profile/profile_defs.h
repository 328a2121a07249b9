/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles of programs: counts how often places in the code are executed,
 * measures how long scopes take, and writes the results to a file. The macros
 * are in profile_on.h.
 *
 * The file is text. Times are nanoseconds; those of records count from
 * ucs_profile_init().
 *
 *   # profile of process <pid> on <host>
 *   location <id> <type> <count> <total time> <file>:<line> <function> <name>
 *   lost <number of records that later ones have overwritten>
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

/** What is collected. UCS_BIT() of these values are the bits of a mode. */
enum {
    UCS_PROFILE_MODE_ACCUM, /* number and total time of the records of each
                             * location */
    UCS_PROFILE_MODE_LOG,   /* each record */
    UCS_PROFILE_MODE_LAST,
};

/** Names of the modes, indexed by mode, terminated by NULL. */
extern const char *ucs_profile_mode_names[];

/** Types of records. */
typedef enum {
    UCS_PROFILE_TYPE_SAMPLE,        /* the place was executed */
    UCS_PROFILE_TYPE_SCOPE_BEGIN,   /* a scope begins in this thread */
    UCS_PROFILE_TYPE_SCOPE_END,     /* the innermost open scope of the thread
                                     * ends; its time is added to this
                                     * location */
    UCS_PROFILE_TYPE_REQUEST_NEW,   /* a new request, which param64
                                     * identifies */
    UCS_PROFILE_TYPE_REQUEST_EVENT, /* an event of a request, which param64
                                     * identifies */
    UCS_PROFILE_TYPE_REQUEST_FREE,  /* a request, which param64 identifies, is
                                     * released */
    UCS_PROFILE_TYPE_LAST,
} ucs_profile_type_t;

/** Identifies a place in the code. Each place has a static variable of this
 *  type, which is initially 0. */
typedef int ucs_profile_loc_id_t;

/** The profiles of a process; opaque. */
typedef struct ucs_profile_context ucs_profile_context_t;

/**
 * Starts to collect profiles.
 *
 * @param [in]  profile_mode   Bits UCS_BIT(UCS_PROFILE_MODE_*); 0: records are
 *                             ignored and no file is written.
 * @param [in]  file_name      File; %p, %h, %e, %u and %t are replaced by
 *                             process id, host, program, user and time.
 * @param [in]  max_file_size  Maximum size of the stored records in bytes;
 *                             later records overwrite the oldest ones.
 * @param [out] ctx_p          Context; release it by ucs_profile_cleanup().
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for unknown bits; UCS_ERR_NO_MEMORY; or
 *         another error if the file name is too long.
 */
ucs_status_t ucs_profile_init(unsigned profile_mode, const char *file_name,
                              size_t max_file_size,
                              ucs_profile_context_t **ctx_p);

/** Writes the file, unless the mode is 0, and releases the context, which no
 *  thread may use any more. A warning is logged if the file cannot be
 *  written. */
void ucs_profile_cleanup(ucs_profile_context_t *ctx);

/**
 * Adds a record; the macros of profile_on.h call it. Any thread.
 *
 * @param [in]    name      Name of the record; copied.
 * @param [in]    param32   Value of the caller, stored in the record like
 *                          param64.
 * @param [in]    file      Source file; with line and function, the place in
 *                          the code.
 * @param [in,out] loc_id_p  Identifier of the place, stored to find it faster
 *                           the next time.
 */
void ucs_profile_record(ucs_profile_context_t *ctx, ucs_profile_type_t type,
                        const char *name, uint32_t param32, uint64_t param64,
                        const char *file, int line, const char *function,
                        ucs_profile_loc_id_t *loc_id_p);

/** @} */

END_C_DECLS

#endif
