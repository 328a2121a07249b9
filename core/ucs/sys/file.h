/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a file by an open descriptor. Other functions for files are in
 * sys.h. */
#ifndef UCS_FILE_H
#define UCS_FILE_H

#include <stddef.h>
#include <ucs/type/status.h>

/** Reads from the current position of the descriptor to the end of the file.
 *  For the parameters and the status see ucs_read_file() in sys.h. */
ucs_status_t ucs_read_fd(int fd, size_t max, char **data_p, size_t *length_p);

#endif
