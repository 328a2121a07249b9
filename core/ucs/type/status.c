/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts for status codes. */
#include <ucs/type/status.h>

#include <stdio.h>

/* Returns a text for a code without a text of its own, in a buffer that belongs
 * to the calling thread. */
static const char *unknown_code(ucs_status_t status)
{
    static __thread char text[32];

    if (UCS_IS_LINK_ERROR(status)) {
        snprintf(text, sizeof(text), "Link failure %d",
                 UCS_ERR_FIRST_LINK_FAILURE - status);
    } else if (UCS_IS_ENDPOINT_ERROR(status)) {
        snprintf(text, sizeof(text), "Endpoint failure %d",
                 UCS_ERR_FIRST_ENDPOINT_FAILURE - status);
    } else {
        snprintf(text, sizeof(text), "Unknown status %d", (int)status);
    }

    return text;
}

const char *ucs_status_string(ucs_status_t status)
{
    switch (status) {
    case UCS_OK:
        return "Success";
    case UCS_INPROGRESS:
        return "Operation in progress";
    case UCS_ERR_NO_MESSAGE:
        return "No message has arrived";
    case UCS_ERR_NO_RESOURCE:
        return "No resources are available now";
    case UCS_ERR_IO_ERROR:
        return "Input/output error";
    case UCS_ERR_NO_MEMORY:
        return "Out of memory";
    case UCS_ERR_INVALID_PARAM:
        return "Invalid parameter";
    case UCS_ERR_UNREACHABLE:
        return "Destination is unreachable";
    case UCS_ERR_INVALID_ADDR:
        return "Address is not valid";
    case UCS_ERR_NOT_IMPLEMENTED:
        return "Function is not implemented";
    case UCS_ERR_MESSAGE_TRUNCATED:
        return "Message is truncated";
    case UCS_ERR_NO_PROGRESS:
        return "No progress";
    case UCS_ERR_BUFFER_TOO_SMALL:
        return "Buffer is too small";
    case UCS_ERR_NO_ELEM:
        return "No such element";
    case UCS_ERR_SOME_CONNECTS_FAILED:
        return "Some connections failed";
    case UCS_ERR_NO_DEVICE:
        return "No such device";
    case UCS_ERR_BUSY:
        return "Device or resource is busy";
    case UCS_ERR_CANCELED:
        return "Request is canceled";
    case UCS_ERR_SHMEM_SEGMENT:
        return "Shared memory error";
    case UCS_ERR_ALREADY_EXISTS:
        return "Element already exists";
    case UCS_ERR_OUT_OF_RANGE:
        return "Index is out of range";
    case UCS_ERR_TIMED_OUT:
        return "Operation timed out";
    case UCS_ERR_EXCEEDS_LIMIT:
        return "A limit is exceeded";
    case UCS_ERR_UNSUPPORTED:
        return "Operation is not supported";
    case UCS_ERR_REJECTED:
        return "Operation was rejected by the peer";
    case UCS_ERR_NOT_CONNECTED:
        return "Endpoint is not connected";
    case UCS_ERR_CONNECTION_RESET:
        return "Connection was reset by the peer";
    case UCS_ERR_ENDPOINT_TIMEOUT:
        return "Endpoint timed out";
    default:
        return unknown_code(status);
    }
}
