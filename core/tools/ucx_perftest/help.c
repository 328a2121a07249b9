/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of -h. */
#include "options.h"

#include <stdio.h>

static const char USAGE[] =
    "Usage: ucx_perftest [OPTIONS]                     wait for a client\n"
    "       ucx_perftest SERVER -t TEST [OPTIONS]      run a test with it\n"
    "       ucx_perftest --self-fork -t TEST [OPTIONS] both in one command\n"
    "       ucx_perftest -l -t TEST [OPTIONS]          a process with itself\n"
    "\n"
    "The client selects the tests and prints the results.\n"
    "\n"
    "Tests (-t):\n";

static const char COMMON[] =
    "\nThe test:\n"
    "  -s SIZES     bytes of a message, or of its buffers: 8 or 16,48,8k (8)\n"
    "  -i BYTES     distance of the starts of two buffers (0: contiguous)\n"
    "  -n COUNT     measured operations (1000000)\n"
    "  -w COUNT     warm-up operations (10000)\n"
    "  --time MSEC  fewer of both if they would take longer\n"
    "  --sweep A:B  the test with sizes A, 2A, 4A, ... up to B\n"
    "  -O COUNT     operations in flight (0: 64 in bandwidth tests, else 1)\n"
    "  -m TYPE[,TYPE]  memory of sender and receiver (host)\n"
    "  -B           register memory at its first use\n"
    "  -l           a process with itself\n"
    "  -o           the server makes no progress while the client puts, gets\n"
    "               or does atomics\n"
    "  --check      verify the data of each message; takes time\n"
    "  -b FILE      a test for each line: its name, then options. Of several\n"
    "               files, each line of one with each of the next\n"
    "\nThe two sides:\n"
    "  -p PORT      port of the server (13337); 0 at the server: a free one,\n"
    "               which is printed\n"
    "  -6           by IPv6\n"
    "  -c LIST      processors to run on: 0,2 or 4-7; with --self-fork the\n"
    "               first half is the client's\n"
    "  --forever    serve one client after the other\n"
    "\nOutput:\n"
    "  -R RANK      percentile to show (50)\n"
    "  -N           separate thousands\n"
    "  -f           final figures only, no line each second\n"
    "  -v           values with commas between\n"
    "  -I           and the transports used; makes contexts that can sleep\n"
    "  --histogram  number of operations by time\n"
    "  --csv FILE   results for programs; - is standard output\n"
    "  --json FILE  likewise\n"
    "\nTests of UCT only:\n"
    "  -x NAME, -d DEVICE  transport and its device (both needed)\n"
    "  -D LAYOUT    short, shortiov, bcopy or zcopy (short)\n"
    "  -W COUNT     active messages until the receiver must answer (127)\n"
    "  -H SIZE      bytes of a message that are its header (8)\n"
    "  -A MODE      asynchronous progress: thread_spinlock, thread_mutex,\n"
    "               signal, poll (thread_spinlock)\n"
    "\nTests of UCP only:\n"
    "  -T COUNT     threads, each with a worker of its own (1)\n"
    "  -M MODE      of workers: single, serialized, multi (single)\n"
    "  -D SEND[,RECV]  contig or iov: a buffer for each size of -s (contig)\n"
    "  -C           receive with any tag\n"
    "  -U           probe for messages before receiving them: unexpected\n"
    "  -r MODE      streams: recv into a buffer, or recv_data in place\n"
    "  -e           endpoints with error handling\n"
    "  -E MODE      wait by poll, or sleep until woken (poll)\n"
    "  -H SIZE      header of active messages, besides the data (0)\n"
    "  -z           map memory before, and pass its handle to operations\n"
    "\n"
    "Transports and devices of UCP: UCX_TLS, UCX_NET_DEVICES and the other\n"
    "variables of the library. Latency is that of one way for messages and\n"
    "puts, of the whole operation for gets and atomics. MB/s are MiB/s.\n"
    "Exit status: 0 success, 1 failure, 2 invalid command line, 3 a test was\n"
    "not possible, 4 received data was wrong (--check).\n";

void options_help(void)
{
    unsigned i;

    fputs(USAGE, stdout);
    for (i = 0; i < perf_test_count; ++i) {
        printf("  %12s  %s %s\n", perf_tests[i].name,
               (perf_tests[i].api == &perf_uct) ? "UCT" : "UCP",
               perf_tests[i].description);
    }
    fputs(COMMON, stdout);
}
