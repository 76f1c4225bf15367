/* Several handles of one file, and a file that another process adds to: STEP FILE. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void make(const char *file, int mode) {
    int ncid, dim, id, value = 7;
    size_t at = 0;
    if (nc_create(file, mode, &ncid) || nc_def_dim(ncid, "t", NC_UNLIMITED, &dim) || nc_def_var(ncid, "v", NC_INT, 1, &dim, &id)) exit(1);
    if (nc_enddef(ncid) || nc_put_var1_int(ncid, id, &at, &value) || nc_close(ncid)) exit(1);
}

static void show(const char *who, int ncid) {
    size_t len = 99;
    int code = nc_inq_dimlen(ncid, 0, &len), values[8] = {0};
    printf("%s: %d %zu", who, code, len);
    printf(" %d", nc_get_var_int(ncid, 0, values));
    for (size_t i = 0; i < len && i < 8; i++) printf(" %d", values[i]);
    printf("\n");
}

/* Another process puts a record. */
static void add(const char *file, size_t at, int value) {
    int ncid, status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) _exit(nc_open(file, NC_WRITE, &ncid) || nc_put_var1_int(ncid, 0, &at, &value) || nc_close(ncid));
    waitpid(child, &status, 0);
    printf("added %d\n", status);
}

/* A reader with NC_SHARE, which never synchronizes: another process changes a record, and adds one. */
static void follow(const char *file) {
    int ncid, value = -1;
    size_t first = 0, second = 1, third = 2;
    printf("open %d\n", nc_open(file, NC_SHARE, &ncid));
    show("before", ncid);
    add(file, first, 8);
    show("changed", ncid);
    add(file, second, 9);
    printf("third %d\n", nc_get_var1_int(ncid, 0, &third, &value));
    printf("second %d", nc_get_var1_int(ncid, 0, &second, &value));
    printf(" %d\n", value);
    show("after", ncid);
    printf("close %d\n", nc_close(ncid));
}

int main(int count, char **arguments) {
    if (count < 4) return 2;
    const char *step = arguments[1], *file = arguments[2];
    int mode = !strcmp(arguments[3], "4") ? NC_NETCDF4 : 0, one, two, three, dim, value = 9;
    size_t at = 1;
    if (!strcmp(step, "added")) {
        make(file, mode);
        printf("open %d\n", nc_open(file, NC_NOWRITE, &one));
        show("before", one);
        add(file, 1, 9);
        printf("sync %d\n", nc_sync(one));
        show("after", one);
        printf("close %d\n", nc_close(one));
    } else if (!strcmp(step, "follow")) {
        make(file, mode);
        follow(file);
    } else if (!strcmp(step, "writer")) {
        make(file, mode);
        printf("open %d", nc_open(file, NC_NOWRITE, &one));
        printf(" %d", nc_open(file, NC_NOWRITE, &two));
        printf(" %d\n", nc_open(file, NC_WRITE, &three));
        printf("put %d", nc_put_var1_int(three, 0, &at, &value));
        printf(" %d", nc_sync(three));
        printf(" %d", nc_sync(one));
        printf(" %d\n", nc_sync(two));
        show("one", one);
        show("two", two);
        printf("close %d", nc_close(three));
        printf(" %d", nc_close(one));
        printf(" %d\n", nc_close(two));
    } else if (!strcmp(step, "abort")) {
        printf("create %d", nc_create(file, mode, &one));
        printf(" %d", nc_def_dim(one, "t", 2, &dim));
        printf(" %d", nc_open(file, NC_WRITE, &two));
        printf(" %d", nc_abort(one));
        printf(" %d", nc_inq_dimid(two, "t", &dim));
        printf(" %d\n", nc_close(two));
    }
    return 0;
}
