/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of the system and of this process (host, user, program, memory),
 * and functions that read and write whole files. */
#ifndef UCS_SYS_H
#define UCS_SYS_H

#include <sys/types.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

#define UCS_HOST_NAME_MAX   256
#define UCS_CACHE_LINE_SIZE 64

size_t ucs_get_page_size(void);

/** Size of the default huge page in bytes, or 0 if the kernel has none. */
size_t ucs_get_huge_page_size(void);

/** Physical memory in bytes, or SIZE_MAX if unknown. */
size_t ucs_get_phys_mem_size(void);

/** Name of the host, cached at the first call; "localhost" if unknown. */
const char *ucs_get_host_name(void);

/** Kernel id of the calling thread. */
pid_t ucs_get_tid(void);

/** Path of the running program ("" if unknown), and its last component. */
const char *ucs_get_exe_path(void);
const char *ucs_get_exe_name(void);

/** Returns whether the program runs with more privileges than its user
 *  (AT_SECURE). If so, no path that the user controls may be used. */
int ucs_sys_is_secure(void);

/** Writes the name of the effective user, or the number if there is no name. */
void ucs_get_user_name(char *buf, size_t max);

/** Copies `tmpl` to `buf` and replaces %p (process id), %h (host), %e
 *  (program), %u (user), %t (time) and %%. A % before any other character is
 *  copied. UCS_ERR_BUFFER_TOO_SMALL if the result does not fit. */
ucs_status_t ucs_fill_filename_template(const char *tmpl, char *buf,
                                        size_t max);

/**
 * Reads a whole file of at most @a max bytes.
 *
 * @param [out] data_p    The contents, to free(); a zero byte follows them.
 * @param [out] length_p  Their length without that zero byte; may be NULL.
 *
 * @return UCS_ERR_NO_ELEM if there is no file, UCS_ERR_EXCEEDS_LIMIT if it is
 *         larger or not a regular file, UCS_ERR_IO_ERROR, UCS_ERR_NO_MEMORY.
 *         Logs nothing. After UCS_ERR_IO_ERROR, errno has the cause.
 */
ucs_status_t ucs_read_file(const char *path, size_t max, char **data_p,
                           size_t *length_p);

/** Reads the first line of a small file, e.g. in sysfs, without the newline. A
 *  line that does not fit is truncated. UCS_ERR_NO_ELEM if there is no file,
 *  UCS_ERR_IO_ERROR if it cannot be read. */
ucs_status_t ucs_read_file_line(const char *path, char *buf, size_t max);

/** Reads the number in the first line of a small file, in base 16 if it begins
 *  with 0x, otherwise in base 10. UCS_ERR_INVALID_PARAM if the line is not a
 *  number; otherwise as ucs_read_file_line(). */
ucs_status_t ucs_read_file_number(const char *path, long *value_p);

/** Replaces a file atomically: readers see the old or the new contents. */
ucs_status_t ucs_write_file(const char *path, const void *data, size_t length,
                            mode_t mode);

/** Read or write `length` bytes, also if a signal interrupts, a call transfers
 *  only a part, or the descriptor is non-blocking and not ready. The read
 *  returns UCS_ERR_NO_ELEM at the end of the file. */
ucs_status_t ucs_read_full(int fd, void *buf, size_t length);
ucs_status_t ucs_write_full(int fd, const void *buf, size_t length);

/** Returns the status that corresponds to a value of errno. */
ucs_status_t ucs_errno_to_status(int sys_errno);

/** Copies a text, truncated if necessary, with a terminating zero. Returns 0 if
 *  it was truncated. */
int ucs_strncpy_zero(char *dest, const char *src, size_t max);

END_C_DECLS

#endif
