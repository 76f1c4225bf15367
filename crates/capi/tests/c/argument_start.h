/* A file for each case, and a process for each: what crashes is told. */
#include <netcdf.h>
#include <netcdf_aux.h>
#include <netcdf_dispatch.h>
#include <netcdf_filter.h>
#include <netcdf_mem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const path = "null.nc";
static size_t zeros[NC_MAX_VAR_DIMS], ones[NC_MAX_VAR_DIMS];
static ptrdiff_t steps[NC_MAX_VAR_DIMS];
static char big[1 << 16];
static void *tag;
static int file, variable, compound, enumeration, rows, blob;

static int make(void) {
    const int values[2] = {1, 2};
    int x, g, failed = 0;
    for (int i = 0; i < NC_MAX_VAR_DIMS; i++) ones[i] = steps[i] = 1;
    failed |= nc_create(path, NC_NETCDF4, &file);
    failed |= nc_def_dim(file, "x", 2, &x);
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
        alarm(20);
        if (make()) _exit(4);
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
