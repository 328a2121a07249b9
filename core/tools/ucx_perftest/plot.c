/* SPDX-License-Identifier: BSD-3-Clause */
/* The command `plot`: input and output files. For PNG, one of several programs
 * of the system converts the SVG. */
#include "plot.h"

#include <errno.h>
#include <getopt.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    EXIT_USAGE = 2,
};

extern char **environ;

static const char HELP[] =
    "Usage: ucx_perftest plot -o FILE.svg|FILE.png [OPTIONS] RESULTS...\n"
    "\n"
    "Draws latency and bandwidth over the size of messages, from what --json\n"
    "or --csv wrote. LABEL=FILE puts a name before the tests of a file; with\n"
    "several files their names do. - is standard input, and of -o output.\n"
    "\n"
    "  -t TITLE  stands above\n"
    "  -p RANK   latency is not the mean but this percentile: 50, 90, 99 or\n"
    "            99.9. A machine that does other work shifts the mean more\n"
    "\n"
    "  ucx_perftest --self-fork -t tag_lat --sweep 1:4m --json lat.json\n"
    "  ucx_perftest --self-fork -t tag_bw --sweep 1:4m --json bw.json\n"
    "  ucx_perftest plot -o picture.svg tag=lat.json tag=bw.json\n";

static int complain(const char *what, const char *why, int status)
{
    fprintf(stderr, "ucx_perftest plot: %s%s%s\n", what,
            (why == NULL) ? "" : ": ", (why == NULL) ? "" : why);
    return status;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);

    return (length >= tail) && (strcmp(text + length - tail, end) == 0);
}

/* Parses LABEL=FILE, unless a file with the whole name exists. */
static bool read_argument(struct plot *plot, char *argument, bool several,
                          char error[PLOT_ERROR_MAX])
{
    const char *slash = strrchr(argument, '/');
    char *equals      = strchr(argument, '=');

    if ((equals != NULL) && (equals != argument) &&
        (access(argument, F_OK) != 0)) {
        *equals = '\0';
        return plot_read(plot, equals + 1, argument, error);
    }
    return plot_read(plot, argument,
                     !several        ? NULL :
                     (slash == NULL) ? argument :
                                       slash + 1,
                     error);
}

static bool write_svg(const struct plot *plot, const char *path)
{
    FILE *file = (strcmp(path, "-") == 0) ? stdout : fopen(path, "w");
    bool good;

    if (file == NULL) {
        return false;
    }
    good = plot_write_svg(plot, file) && (fflush(file) == 0);
    return ((file == stdout) || (fclose(file) == 0)) && good;
}

/* Runs a program. Returns whether it exists and succeeded. */
static bool convert(char *const arguments[])
{
    pid_t pid;
    int status;

    return (posix_spawnp(&pid, arguments[0], NULL, NULL, arguments, environ) ==
            0) &&
           (waitpid(pid, &status, 0) == pid) && (status == 0);
}

static int write_png(const struct plot *plot, char *path)
{
    char svg[] = P_tmpdir "/ucx_perftest-XXXXXX.svg", with_format[4096 + 8];
    char *const rsvg[]   = {"rsvg-convert", "-z", "1.5", "-o", path, svg, NULL};
    char *const magick[] = {"convert", "-density",  "144",
                            svg,       with_format, NULL};
    int fd = mkstemps(svg, 4), status = EXIT_SUCCESS;

    snprintf(with_format, sizeof(with_format), "png:%.4096s", path);
    if (fd < 0) {
        return complain(svg, strerror(errno), EXIT_FAILURE);
    }
    close(fd);
    if (!write_svg(plot, svg)) {
        status = complain(svg, strerror(errno), EXIT_FAILURE);
    } else if (!convert(rsvg) && !convert(magick)) {
        status = complain("no program to convert SVG to PNG: install "
                          "rsvg-convert (in Debian, the package "
                          "librsvg2-bin), or write FILE.svg",
                          NULL, EXIT_FAILURE);
    }
    unlink(svg);
    return status;
}

static int draw(const struct plot *plot, char *path)
{
    if (plot->count == 0) {
        return complain("the files have nothing that can be drawn", NULL,
                        EXIT_FAILURE);
    }
    if (ends_with(path, ".png")) {
        return write_png(plot, path);
    }
    return write_svg(plot, path) ?
               EXIT_SUCCESS :
               complain(path, strerror(errno), EXIT_FAILURE);
}

int plot_main(int argc, char **argv)
{
    char error[PLOT_ERROR_MAX], *output = NULL;
    struct plot plot = {0};
    int status       = EXIT_SUCCESS, c, i;

    while ((c = getopt(argc, argv, "o:t:p:h")) != -1) {
        switch (c) {
        case 'o':
            output = optarg;
            break;
        case 't':
            plot.title = optarg;
            break;
        case 'p':
            plot.rank = optarg;
            break;
        case 'h':
            fputs(HELP, stdout);
            return EXIT_SUCCESS;
        default:
            return EXIT_USAGE;
        }
    }
    if ((output == NULL) || (optind == argc) ||
        (!ends_with(output, ".svg") && !ends_with(output, ".png") &&
         (strcmp(output, "-") != 0))) {
        fputs(HELP, stderr);
        return EXIT_USAGE;
    }
    for (i = optind; (i < argc) && (status == EXIT_SUCCESS); ++i) {
        if (!read_argument(&plot, argv[i], argc - optind > 1, error)) {
            status = complain(error, NULL, EXIT_FAILURE);
        }
    }
    status = (status == EXIT_SUCCESS) ? draw(&plot, output) : status;
    plot_free(&plot);
    return status;
}
