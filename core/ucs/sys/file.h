/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a file by an open descriptor. Other functions on files are in sys.h. */
#ifndef UCS_FILE_H
#define UCS_FILE_H

#include <stddef.h>
#include <ucs/type/status.h>

/** As ucs_read_file() in sys.h, but reads from the current position of the
 *  descriptor. */
ucs_status_t ucs_read_fd(int fd, size_t max, char **data_p, size_t *length_p);

#endif
