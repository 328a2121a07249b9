/* SPDX-License-Identifier: BSD-3-Clause */
/* The one file helper that works on an open descriptor; the rest: sys.h. */
#ifndef UCS_FILE_H
#define UCS_FILE_H

#include <stddef.h>
#include <ucs/type/status.h>

/** As ucs_read_file, from where the descriptor stands to its end. */
ucs_status_t ucs_read_fd(int fd, size_t max, char **data_p, size_t *length_p);

#endif
