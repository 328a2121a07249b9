/* SPDX-License-Identifier: BSD-3-Clause */
/* ucx_cp: copies one file to another process through UCP. This file parses the
 * command line and prints results; send.c and receive.c do the work. */
#include "link.h"
#include "meter.h"
#include "ucx_cp.h"
#include "wire.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_PORT  = 13338,
    DEFAULT_CHUNK = 1024 * 1024,
};

static const char HELP[] =
    "ucx_cp copies one file to another process, through UCP.\n"
    "\n"
    "  ucx_cp receive [options] [DIRECTORY]   wait for one file (default: .)\n"
    "  ucx_cp send [options] FILE [HOST]      send it (default: this host)\n"
    "\n"
    "Options of both:\n"
    "  -p, --port PORT     where the two meet (13338; receive: 0 for any)\n"
    "  -q, --quiet         no progress bar\n"
    "  -h, --help          this text\n"
    "Options of send:\n"
    "  -c, --chunk SIZE    bytes in a message, 4K to 16M (1M); K and M work\n"
    "Options of receive:\n"
    "  -l, --listen ADDR   accept senders on this address (the loopback only)\n"
    "  -o, --output NAME   store under this name, not under the sender's\n"
    "  -r, --replace       replace a file of that name\n"
    "  -s, --sync          bring the file to the disk before saying so\n"
    "\n"
    "The file appears under its name only when it is complete and its\n"
    "checksum (XXH64) is right. Whoever reaches the port can send one file\n"
    "into the directory: listen only where you trust the network.\n"
    "The UCX_* variables apply, for instance UCX_TLS to choose transports.\n"
    "Exit status: 0 copied, 1 failed, 2 wrong usage.\n";

static int misuse(const char *what, const char *value)
{
    fprintf(stderr, "ucx_cp: %s%s%s; 'ucx_cp --help' explains\n", what,
            (value != NULL) ? " " : "", (value != NULL) ? value : "");
    return 2;
}

static void on_signal(int number)
{
    (void)number;
    link_interrupt();
}

/* Installs the handlers without SA_RESTART, so that a signal also interrupts
 * accept(), in which a receiver waits for a sender. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static int parse_port(const char *text, uint16_t *port)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if ((*text < '0') || (*text > '9') || (*end != '\0') ||
        (value > UINT16_MAX)) {
        return -1;
    }
    *port = (uint16_t)value;
    return 0;
}

static int parse_chunk(const char *text, uint32_t *chunk)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);

    if ((*text < '0') || (*text > '9') || (value > WIRE_CHUNK_MAX)) {
        return -1;
    }
    if ((strcmp(end, "K") == 0) || (strcmp(end, "k") == 0)) {
        value *= 1024;
    } else if ((strcmp(end, "M") == 0) || (strcmp(end, "m") == 0)) {
        value *= 1024 * 1024;
    } else if (*end != '\0') {
        return -1;
    }
    if ((value < WIRE_CHUNK_MIN) || (value > WIRE_CHUNK_MAX)) {
        return -1;
    }
    *chunk = (uint32_t)value;
    return 0;
}

/* Returns 0 to continue, or the exit status plus one. */
static int parse_options(int argc, char **argv, struct cp_options *options)
{
    static const struct option names[] = {
        {"port", required_argument, NULL, 'p'},
        {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},
        {"chunk", required_argument, NULL, 'c'},
        {"listen", required_argument, NULL, 'l'},
        {"output", required_argument, NULL, 'o'},
        {"replace", no_argument, NULL, 'r'},
        {"sync", no_argument, NULL, 's'},
        {NULL, 0, NULL, 0},
    };
    int c;

    while ((c = getopt_long(argc, argv, "p:qhc:l:o:rs", names, NULL)) != -1) {
        switch (c) {
        case 'p':
            if (parse_port(optarg, &options->port) != 0) {
                return misuse("no such port:", optarg) + 1;
            }
            break;
        case 'c':
            if (parse_chunk(optarg, &options->chunk) != 0) {
                return misuse("no usable chunk size:", optarg) + 1;
            }
            break;
        case 'q':
            options->quiet = true;
            break;
        case 'l':
            options->host = optarg;
            break;
        case 'o':
            if (wire_name_rejected(optarg, strlen(optarg)) != NULL) {
                return misuse("--output takes a plain file name, not", optarg) +
                       1;
            }
            options->output = optarg;
            break;
        case 'r':
            options->replace = true;
            break;
        case 's':
            options->sync = true;
            break;
        case 'h':
            fputs(HELP, stdout);
            return 1;
        default:
            return misuse("see above", NULL) + 1;
        }
    }
    return 0;
}

void cp_report(const char *what, const char *name, uint64_t size,
               double seconds, uint64_t hash)
{
    char amount[24], speed[24];

    printf("%s %s: %s in %.3f s, %s/s, xxh64 %016llx\n", what, name,
           meter_bytes(size, amount, sizeof(amount)), seconds,
           meter_bytes((seconds > 0) ? size / seconds : 0, speed,
                       sizeof(speed)),
           (unsigned long long)hash);
}

int main(int argc, char **argv)
{
    struct cp_options options = {.port = DEFAULT_PORT, .chunk = DEFAULT_CHUNK};
    const char *command       = (argc > 1) ? argv[1] : "";
    int left, ret;

    if ((strcmp(command, "--help") == 0) || (strcmp(command, "-h") == 0)) {
        fputs(HELP, stdout);
        return 0;
    }
    if ((strcmp(command, "send") != 0) && (strcmp(command, "receive") != 0)) {
        return misuse("say what to do: send or receive", NULL);
    }
    ret = parse_options(argc - 1, argv + 1, &options);
    if (ret != 0) {
        return ret - 1;
    }
    argv += 1 + optind;
    left = argc - 1 - optind;
    catch_signals();
    if (strcmp(command, "receive") == 0) {
        if (left > 1) {
            return misuse("one directory at most", NULL);
        }
        options.path = (left == 1) ? argv[0] : ".";
        ret          = cp_receive(&options);
    } else {
        if ((left < 1) || (left > 2) || (options.port == 0)) {
            return misuse("send needs a file, perhaps a host, and a port",
                          NULL);
        }
        options.path = argv[0];
        options.host = (left == 2) ? argv[1] : NULL;
        ret          = cp_send(&options);
    }
    return (ret == 0) ? 0 : 1;
}
