/* SPDX-License-Identifier: BSD-3-Clause */
/* System properties: host, user, program, memory; and whole files. */
#ifndef UCS_SYS_H
#define UCS_SYS_H

#include <sys/types.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

#define UCS_HOST_NAME_MAX   256
#define UCS_CACHE_LINE_SIZE 64

size_t ucs_get_page_size(void);

/** Size of the default huge page in bytes, or 0 if there is none. */
size_t ucs_get_huge_page_size(void);

/** Physical memory in bytes, or SIZE_MAX if unknown. */
size_t ucs_get_phys_mem_size(void);

/** Name of the host, cached. */
const char *ucs_get_host_name(void);

/** Kernel id of the calling thread. */
pid_t ucs_get_tid(void);

/** Path of the running program ("" if unknown), and its last component. */
const char *ucs_get_exe_path(void);
const char *ucs_get_exe_name(void);

/** Returns whether the program runs with more privileges than its user
 *  (AT_SECURE). If so, no path that the user controls may be used. */
int ucs_sys_is_secure(void);

/** Name of the user, or the number if there is no name. */
void ucs_get_user_name(char *buf, size_t max);

/** Expands %p (pid), %h (host), %e (program), %u (user), %t (time), %%. */
ucs_status_t ucs_fill_filename_template(const char *tmpl, char *buf,
                                        size_t max);

/**
 * Reads a whole file of at most @a max bytes.
 *
 * @param [out] data_p    To free(); a zero follows the last byte.
 * @param [out] length_p  Bytes; may be NULL.
 *
 * @return UCS_ERR_NO_ELEM if there is no file, UCS_ERR_EXCEEDS_LIMIT if it is
 *         larger or not a regular file, UCS_ERR_IO_ERROR, UCS_ERR_NO_MEMORY.
 *         Logs nothing; errno is set after IO_ERROR.
 */
ucs_status_t ucs_read_file(const char *path, size_t max, char **data_p,
                           size_t *length_p);

/** First line of a small file, e.g. in sysfs, without the newline. */
ucs_status_t ucs_read_file_line(const char *path, char *buf, size_t max);

/** A number in a small file, in base 10 or, with 0x, 16. */
ucs_status_t ucs_read_file_number(const char *path, long *value_p);

/** Replaces a file atomically: readers see the old or the new contents. */
ucs_status_t ucs_write_file(const char *path, const void *data, size_t length,
                            mode_t mode);

/** Read or write everything, despite signals and short counts. */
ucs_status_t ucs_read_full(int fd, void *buf, size_t length);
ucs_status_t ucs_write_full(int fd, const void *buf, size_t length);

/** Returns the status that corresponds to a value of errno. */
ucs_status_t ucs_errno_to_status(int sys_errno);

/** strncpy that always terminates the text; returns 0 if it was truncated. */
int ucs_strncpy_zero(char *dest, const char *src, size_t max);

END_C_DECLS

#endif
