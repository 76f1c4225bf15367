/* A file for each case, and a process for each: what crashes is told. */
#include <netcdf.h>
#include <netcdf_aux.h>
#include <netcdf_dispatch.h>
#include <netcdf_filter.h>
#include <netcdf_mem.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const path = "arguments.nc";
static size_t zeros[NC_MAX_VAR_DIMS], ones[NC_MAX_VAR_DIMS], huge[NC_MAX_VAR_DIMS], most[NC_MAX_VAR_DIMS], twos[NC_MAX_VAR_DIMS];
static ptrdiff_t steps[NC_MAX_VAR_DIMS], backwards[NC_MAX_VAR_DIMS], farthest[NC_MAX_VAR_DIMS];
static int no_dims[NC_MAX_VAR_DIMS], strange_dims[NC_MAX_VAR_DIMS];
static char long_name[NC_MAX_NAME + 2];
static char big[1 << 16];
static void *tag;
static int file, variable, compound, enumeration, rows, blob, other, closed_one;

/* "classic", in data mode; "defining", the same in define mode; "netCDF-4". */
static const char *kind = "netCDF-4";

static int make(const char *name) {
    const int values[2] = {1, 2};
    int x, g, failed = 0;
    for (int i = 0; i < NC_MAX_VAR_DIMS; i++) {
        ones[i] = steps[i] = 1;
        huge[i] = (size_t)1 << 63;
        most[i] = (size_t)-1;
        twos[i] = 2;
        backwards[i] = no_dims[i] = -1;
        farthest[i] = PTRDIFF_MIN;
        strange_dims[i] = 99;
    }
    memset(long_name, 'n', NC_MAX_NAME + 1);
    int is_netcdf4 = strcmp(kind, "netCDF-4") == 0, mode = is_netcdf4 ? NC_NETCDF4 : 0;
    failed |= nc_create(path, mode, &file);
    /* Thousands of processes need neither. */
    if (strstr(name, ": other")) failed |= nc_create("other.nc", mode, &other);
    if (strstr(name, ": closed")) failed |= nc_create("closed.nc", mode, &closed_one) | nc_close(closed_one);
    failed |= nc_def_dim(file, "x", 2, &x);
    if (!is_netcdf4) {
        compound = enumeration = rows = blob = NC_INT;
        failed |= nc_def_var(file, "v", NC_INT, 1, &x, &variable);
        failed |= nc_put_att_int(file, variable, "a", NC_INT, 1, values);
        failed |= nc_enddef(file);
        failed |= nc_put_var_int(file, variable, values);
        if (strcmp(kind, "defining") == 0) failed |= nc_redef(file);
        return failed;
    }
    failed |= nc_def_compound(file, 4, "c", &compound);
    failed |= nc_insert_compound(file, compound, "v", 0, NC_INT);
    failed |= nc_def_enum(file, NC_INT, "e", &enumeration);
    failed |= nc_insert_enum(file, enumeration, "v", values);
    failed |= nc_def_vlen(file, "r", NC_INT, &rows);
    failed |= nc_def_opaque(file, 4, "o", &blob);
    failed |= nc_def_var(file, "v", NC_INT, 1, &x, &variable);
    failed |= nc_put_att_int(file, variable, "a", NC_INT, 1, values);
    failed |= ncaux_begin_compound(file, "t", 0, &tag);
    failed |= nc_def_grp(file, "g", &g);
    failed |= nc_put_var_int(file, variable, values);
    return failed;
}

/* The code of a call in a process of its own, which makes the file first. */
static void run(const char *name, int (*call)(void)) {
    int ends[2], answer = 0, status = 0;
    if (pipe(ends)) exit(3);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        freopen("/dev/null", "w", stdout);
        freopen("/dev/null", "w", stderr);
        ncopts = 0;
        alarm(8);
        if (make(name)) _exit(4);
        int found = call();
        if (write(ends[1], &found, sizeof found) != sizeof found) _exit(5);
        _exit(0);
    }
    close(ends[1]);
    ssize_t len = read(ends[0], &answer, sizeof answer);
    close(ends[0]);
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 4)
        printf("%s = no file\n", name);
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        printf("%s = hang\n", name);
    else if (len == sizeof answer)
        printf("%s = %d\n", name, answer);
    else
        printf("%s = crash\n", name);
}
