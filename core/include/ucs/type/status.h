/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Status codes of every UCX call, and the convention by which a pointer is
 * either a request or a status.
 */
#ifndef UCS_TYPES_STATUS_H
#define UCS_TYPES_STATUS_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** @addtogroup UCS_TYPE
 *  @{ */

/**
 * Result of an operation: zero is success, UCS_INPROGRESS means that it
 * completes later, everything below zero is an error.
 *
 * Codes between a FIRST_..._FAILURE and its LAST_..._FAILURE mean that one
 * object of that kind (a link, an endpoint) is lost permanently; it is
 * sufficient to replace that object.
 */
typedef enum {
    UCS_OK         = 0, /* done */
    UCS_INPROGRESS = 1, /* started, not done yet */

    UCS_ERR_NO_MESSAGE           = -1,  /* nothing has arrived */
    UCS_ERR_NO_RESOURCE          = -2,  /* queue full; try again later */
    UCS_ERR_IO_ERROR             = -3,  /* the system or a device failed */
    UCS_ERR_NO_MEMORY            = -4,  /* out of memory */
    UCS_ERR_INVALID_PARAM        = -5,  /* an argument is invalid */
    UCS_ERR_UNREACHABLE          = -6,  /* the peer is unreachable */
    UCS_ERR_INVALID_ADDR         = -7,  /* malformed or foreign address */
    UCS_ERR_NOT_IMPLEMENTED      = -8,  /* not supported by this object */
    UCS_ERR_MESSAGE_TRUNCATED    = -9,  /* larger than the receive buffer */
    UCS_ERR_NO_PROGRESS          = -10, /* no progress was possible */
    UCS_ERR_BUFFER_TOO_SMALL     = -11, /* caller's buffer is too short */
    UCS_ERR_NO_ELEM              = -12, /* no such element */
    UCS_ERR_SOME_CONNECTS_FAILED = -13, /* part of a set failed to connect */
    UCS_ERR_NO_DEVICE            = -14, /* no such device */
    UCS_ERR_BUSY                 = -15, /* in use, or events are pending */
    UCS_ERR_CANCELED             = -16, /* cancelled by the user */
    UCS_ERR_SHMEM_SEGMENT        = -17, /* shared memory cannot be created */
    UCS_ERR_ALREADY_EXISTS       = -18, /* it exists already */
    UCS_ERR_OUT_OF_RANGE         = -19, /* index or offset is out of range */
    UCS_ERR_TIMED_OUT            = -20, /* the time limit has passed */
    UCS_ERR_EXCEEDS_LIMIT        = -21, /* more than a fixed limit allows */
    UCS_ERR_UNSUPPORTED          = -22, /* not supported here */
    UCS_ERR_REJECTED             = -23, /* rejected by the peer */
    UCS_ERR_NOT_CONNECTED        = -24, /* no connection */
    UCS_ERR_CONNECTION_RESET     = -25, /* the peer cut the connection */

    UCS_ERR_FIRST_LINK_FAILURE     = -40,
    UCS_ERR_LAST_LINK_FAILURE      = -59,
    UCS_ERR_FIRST_ENDPOINT_FAILURE = -60,
    UCS_ERR_ENDPOINT_TIMEOUT       = -80, /* no keepalive or acknowledgement
                                           * arrived */
    UCS_ERR_LAST_ENDPOINT_FAILURE  = -89,

    UCS_ERR_LAST = -100, /* below every code */
} UCS_S_PACKED ucs_status_t;

/**
 * One pointer that is NULL for UCS_OK, an error code from the top 100 values of
 * the address space, or a valid pointer (to a request in progress).
 */
typedef void *ucs_status_ptr_t;

/** Nonzero if a status means that the link has failed. */
#define UCS_IS_LINK_ERROR(_code) \
    (((_code) <= UCS_ERR_FIRST_LINK_FAILURE) && \
     ((_code) >= UCS_ERR_LAST_LINK_FAILURE))

/** Nonzero if a status means that the endpoint has failed. */
#define UCS_IS_ENDPOINT_ERROR(_code) \
    (((_code) <= UCS_ERR_FIRST_ENDPOINT_FAILURE) && \
     ((_code) >= UCS_ERR_LAST_ENDPOINT_FAILURE))

/* Nonzero if a status is an error, that is, neither UCS_OK nor
 * UCS_INPROGRESS. */
#define UCS_STATUS_IS_ERR(_status) ((_status) < 0)

/* UCS_STATUS_PTR converts a status to a pointer. UCS_PTR_RAW_STATUS converts a
 * pointer to a status; it does not check that the pointer contains a status. */
#define UCS_STATUS_PTR(_status)  ((void *)(intptr_t)(_status))
#define UCS_PTR_RAW_STATUS(_ptr) ((ucs_status_t)(intptr_t)(_ptr))

/* UCS_PTR_IS_ERR is nonzero if the pointer contains an error code,
 * UCS_PTR_IS_PTR if it points to a request. */
#define UCS_PTR_IS_ERR(_ptr) \
    ((uintptr_t)(_ptr) >= (uintptr_t)(intptr_t)UCS_ERR_LAST)
#define UCS_PTR_IS_PTR(_ptr) \
    (((uintptr_t)(_ptr)-1) < ((uintptr_t)(intptr_t)UCS_ERR_LAST - 1))

/* Returns the status of a pointer; UCS_INPROGRESS if it points to a request. */
#define UCS_PTR_STATUS(_ptr) \
    (UCS_PTR_IS_PTR(_ptr) ? UCS_INPROGRESS : UCS_PTR_RAW_STATUS(_ptr))

/**
 * Returns the text of a status code.
 *
 * @param [in] status  Any value; unknown ones are accepted.
 *
 * @return A constant string; never NULL.
 */
const char *ucs_status_string(ucs_status_t status);

/** @} */

END_C_DECLS

#endif
