/* Files that are open are moved, replaced, removed and touched by others: values go to and come from what was opened. FOLDER: makes files there. */
#include <netcdf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <utime.h>

/* One call after the other: the arguments of one printf have no order. */
#define DO(call) do { int code = (call); printf(" %.20s %d", #call, code); } while (0)

static const int modes[] = {0, NC_64BIT_OFFSET, NC_CDF5, NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};

static void make(const char *file, int mode, int value) {
    int n, t, v;
    const size_t first = 0;
    nc_create(file, mode, &n);
    nc_def_dim(n, "t", NC_UNLIMITED, &t);
    nc_def_var(n, "v", NC_INT, 1, &t, &v);
    nc_enddef(n);
    nc_put_var1_int(n, v, &first, &value);
    nc_close(n);
}

static void show(const char *file) {
    int n, values[8] = {0};
    size_t len = 0;
    if (access(file, F_OK)) {
        printf(" %s: none;", file);
        return;
    }
    int code = nc_open(file, NC_NOWRITE, &n);
    if (!code) code = nc_inq_dimlen(n, 0, &len);
    if (!code) code = nc_get_var_int(n, 0, values);
    printf(" %s: %d, %zu:", file, code, len);
    for (size_t i = 0; i < len && i < 8; i++) printf(" %d", values[i]);
    printf(";");
    nc_close(n);
}

static void put(int n, int value) {
    const size_t second = 1;
    DO(nc_put_var1_int(n, 0, &second, &value));
    DO(nc_close(n));
}

static void changed(int mode) {
    int n;
    printf("moved:");
    make("a.nc", mode, 1);
    DO(nc_open("a.nc", NC_WRITE, &n));
    rename("a.nc", "b.nc");
    put(n, 2);
    show("a.nc");
    show("b.nc");
    printf("\nreplaced:");
    make("a.nc", mode, 3);
    make("b.nc", mode, 4);
    DO(nc_open("a.nc", NC_WRITE, &n));
    rename("b.nc", "a.nc");
    put(n, 5);
    show("a.nc");
    printf("\nremoved:");
    DO(nc_open("a.nc", NC_WRITE, &n));
    remove("a.nc");
    put(n, 6);
    show("a.nc");
    printf("\nsynced and moved:");
    int t, v;
    DO(nc_create("a.nc", mode, &n));
    nc_def_dim(n, "t", NC_UNLIMITED, &t);
    nc_def_var(n, "v", NC_INT, 1, &t, &v);
    nc_enddef(n);
    DO(nc_sync(n));
    rename("a.nc", "b.nc");
    put(n, 7);
    show("a.nc");
    show("b.nc");
    printf("\n");
    remove("b.nc");
}

/* A longer header moves the data of netCDF-3: the file is written again. */
static void rewritten(int mode) {
    int n;
    char text[3000];
    memset(text, 't', sizeof text);
    for (int how = 0; how < 3; how++) {
        printf("rewritten %d:", how);
        make("a.nc", mode, 1);
        make("b.nc", mode, 2);
        DO(nc_open("a.nc", NC_WRITE, &n));
        if (how == 0) rename("a.nc", "c.nc");
        if (how == 1) link("a.nc", "c.nc"), rename("b.nc", "a.nc");
        if (how == 2) remove("a.nc");
        DO(nc_redef(n));
        DO(nc_put_att_text(n, NC_GLOBAL, "long", sizeof text, text));
        DO(nc_enddef(n));
        DO(nc_sync(n));
        put(n, 3);
        show("a.nc");
        show("b.nc");
        show("c.nc");
        remove("a.nc");
        remove("b.nc");
        remove("c.nc");
        printf("\n");
    }
}

static void value(int n) {
    const size_t first = 0;
    int x = -1;
    DO(nc_get_var1_int(n, 0, &first, &x));
    printf(" %d", x);
}

static void read_on(int mode) {
    int n, other;
    struct utimbuf times = {1000, 1000};
    printf("touched:");
    make("a.nc", mode, 1);
    DO(nc_open("a.nc", NC_NOWRITE, &n));
    utime("a.nc", &times);
    value(n);
    printf("\nreplaced while it is read:");
    make("b.nc", mode, 2);
    rename("b.nc", "a.nc");
    value(n);
    DO(nc_open("a.nc", NC_NOWRITE, &other));
    value(other);
    value(n);
    DO(nc_close(other));
    printf("\nremoved while it is read:");
    remove("a.nc");
    value(n);
    DO(nc_sync(n));
    value(n);
    DO(nc_close(n));
    printf("\n");
}

/* Records that somebody else appends to a classic file do not disturb who reads those that were there. */
static void appended(int mode) {
    int n;
    printf("appended:");
    make("a.nc", mode, 1);
    DO(nc_open("a.nc", NC_NOWRITE, &n));
    FILE *file = fopen("a.nc", "r+b");
    const unsigned char more[4] = {0, 0, 0, 9};
    fseek(file, 0, SEEK_END);
    fwrite(more, 1, sizeof more, file);
    // The number of records stands behind the first four bytes, in 4 bytes or in 8.
    const unsigned char records[4] = {0, 0, 0, 2};
    fseek(file, mode == NC_CDF5 ? 8 : 4, SEEK_SET);
    fwrite(records, 1, sizeof records, file);
    fclose(file);
    value(n);
    DO(nc_sync(n));
    size_t len = 0;
    DO(nc_inq_dimlen(n, 0, &len));
    int values[2] = {0};
    DO(nc_get_var_int(n, 0, values));
    printf(" %zu %d %d", len, values[0], values[1]);
    DO(nc_close(n));
    printf("\n");
    remove("a.nc");
}

int main(int count, char **arguments) {
    if (count < 2 || chdir(arguments[1])) return 2;
    for (int kind = 0; kind < 5; kind++) {
        changed(modes[kind]);
        rewritten(modes[kind]);
        read_on(modes[kind]);
        if (kind < 3) appended(modes[kind]);
    }
    return 0;
}
