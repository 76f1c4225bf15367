/* What programs wait for, the same binary on any library: OPERATION FILE [COUNT] prints the seconds of one call and its own peak memory,
   "run PROGRAM ARGUMENTS..." those of another program, without its output. */
#include <fcntl.h>
#include <netcdf.h>
#include <netcdf_filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 1000, COLUMNS = 1000 };

/* A record of ROWS x COLUMNS floats is about 4 MiB. */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void check(int code) {
    if (code == NC_NOERR) return;
    fprintf(stderr, "%s\n", nc_strerror(code));
    exit(1);
}

static void tell(double seconds, int who) {
    struct rusage usage;
    getrusage(who, &usage);
    printf("{\"seconds\": %.9f, \"peak_kib\": %ld}\n", seconds, usage.ru_maxrss);
}

/* The identifier of Zstandard among the filters of HDF5. */
enum { ZSTD = 32015 };

/* A variable of so many MiB of floats, a record after the other: netCDF-3, or netCDF-4, contiguous or in chunks with shuffle and deflate or
   Zstandard. */
static void make(const char *file, const char *kind, long mib) {
    int ncid, dims[3], id, is_classic = !strcmp(kind, "classic"), is_contiguous = !strcmp(kind, "contiguous");
    unsigned level = 3;
    size_t chunks[3] = {1, 100, 100}, start[3] = {0, 0, 0}, count[3] = {1, ROWS, COLUMNS};
    float *values = malloc(sizeof(float) * ROWS * COLUMNS);
    check(nc_create(file, NC_CLOBBER | (is_classic ? NC_64BIT_OFFSET : NC_NETCDF4), &ncid));
    check(nc_def_dim(ncid, "time", is_contiguous ? (size_t)mib / 4 : NC_UNLIMITED, dims));
    check(nc_def_dim(ncid, "y", ROWS, dims + 1));
    check(nc_def_dim(ncid, "x", COLUMNS, dims + 2));
    check(nc_def_var(ncid, "v", NC_FLOAT, 3, dims, &id));
    if (!is_classic && !is_contiguous) check(nc_def_var_chunking(ncid, id, NC_CHUNKED, chunks));
    if (!strcmp(kind, "deflated")) check(nc_def_var_deflate(ncid, id, 1, 1, 1));
    if (!strcmp(kind, "zstd")) check(nc_def_var_deflate(ncid, id, 1, 0, 0)), check(nc_def_var_filter(ncid, id, ZSTD, 1, &level));
    check(nc_enddef(ncid));
    for (long record = 0; record * 4 < mib; record++) {
        for (int i = 0; i < ROWS * COLUMNS; i++) values[i] = 273 + (i % 7919 + record + ((unsigned)i * 2654435761u >> 26)) / 64.0f;
        start[0] = record;
        check(nc_put_vara_float(ncid, id, start, count, values));
    }
    check(nc_close(ncid));
    free(values);
}

static void make_tiny(const char *file, int is_netcdf4) {
    int ncid, dim, id, values[3] = {1, 2, 3};
    check(nc_create(file, NC_CLOBBER | (is_netcdf4 ? NC_NETCDF4 : 0), &ncid));
    check(nc_def_dim(ncid, "x", 3, &dim));
    check(nc_def_var(ncid, "v", NC_INT, 1, &dim, &id));
    check(nc_enddef(ncid));
    check(nc_put_var_int(ncid, id, values));
    check(nc_close(ncid));
}

static void make_many(const char *file) {
    int ncid, dim, id;
    char name[32];
    check(nc_create(file, NC_CLOBBER | NC_NETCDF4, &ncid));
    check(nc_def_dim(ncid, "x", 10, &dim));
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "v%d", i);
        check(nc_def_var(ncid, name, NC_FLOAT, 1, &dim, &id));
        check(nc_put_att_text(ncid, id, "units", 1, "K"));
    }
    check(nc_close(ncid));
}

static void points(const char *file, long count, int writes) {
    int ncid;
    float value = 1;
    check(nc_open(file, writes ? NC_WRITE : NC_NOWRITE, &ncid));
    double start = now();
    for (long i = 0; i < count; i++) {
        size_t at[3] = {0, i / COLUMNS % ROWS, i % COLUMNS};
        check(writes ? nc_put_var1_float(ncid, 0, at, &value) : nc_get_var1_float(ncid, 0, at, &value));
    }
    if (writes) check(nc_close(ncid));
    tell((now() - start) / count, RUSAGE_SELF);
    if (!writes) check(nc_close(ncid));
}

static void opens(const char *file, long count) {
    int ncid, many;
    double start = now();
    for (long i = 0; i < count; i++) {
        check(nc_open(file, NC_NOWRITE, &ncid));
        check(nc_inq_nvars(ncid, &many));
        check(nc_close(ncid));
    }
    tell((now() - start) / count, RUSAGE_SELF);
}

/* One point of so many records, from opening to closing. */
static void series(const char *file, long count) {
    int ncid;
    size_t at[3] = {0, ROWS / 2, COLUMNS / 2}, counts[3] = {count, 1, 1};
    float *values = malloc(sizeof(float) * count);
    double start = now();
    check(nc_open(file, NC_NOWRITE, &ncid));
    check(nc_get_vara_float(ncid, 0, at, counts, values));
    check(nc_close(ncid));
    tell(now() - start, RUSAGE_SELF);
    free(values);
}

/* A model's output: so many records of four variables, each put by a call of its own, and the whole file from creating to closing. Each
   record of a variable has so many values; with none, the variables have no other dimension than that of records. */
static void records(const char *file, long count, int width, int is_netcdf4) {
    enum { VARIABLES = 4 };
    int ncid, dims[2], ids[VARIABLES];
    char name[8];
    float *values = calloc(width ? width : 1, sizeof(float));
    double start = now();
    check(nc_create(file, NC_CLOBBER | (is_netcdf4 ? NC_NETCDF4 : NC_64BIT_OFFSET), &ncid));
    check(nc_def_dim(ncid, "time", NC_UNLIMITED, dims));
    if (width) check(nc_def_dim(ncid, "x", width, dims + 1));
    for (int of = 0; of < VARIABLES; of++) {
        snprintf(name, sizeof name, "v%d", of);
        check(nc_def_var(ncid, name, NC_FLOAT, width ? 2 : 1, dims, ids + of));
    }
    check(nc_enddef(ncid));
    for (long record = 0; record < count; record++)
        for (int of = 0; of < VARIABLES; of++) {
            size_t at[2] = {record, 0}, counts[2] = {1, width};
            values[0] = record + of;
            check(nc_put_vara_float(ncid, ids[of], at, counts, values));
        }
    check(nc_close(ncid));
    tell(now() - start, RUSAGE_SELF);
    free(values);
}

/* Define mode for each record: an attribute with the time of the last one, and others that are new, then the record. */
static void rounds(const char *file, long count) {
    int ncid, dim, id;
    char name[16];
    double start = now();
    check(nc_create(file, NC_CLOBBER | NC_NETCDF4, &ncid));
    check(nc_def_dim(ncid, "time", NC_UNLIMITED, &dim));
    check(nc_def_var(ncid, "v", NC_FLOAT, 1, &dim, &id));
    check(nc_enddef(ncid));
    for (long round = 0; round < count; round++) {
        size_t at = round;
        float value = round;
        int number = round;
        snprintf(name, sizeof name, "a%ld", round);
        check(nc_redef(ncid));
        check(nc_put_att_int(ncid, NC_GLOBAL, name, NC_INT, 1, &number));
        check(nc_enddef(ncid));
        check(nc_put_var1_float(ncid, id, &at, &value));
    }
    check(nc_close(ncid));
    tell(now() - start, RUSAGE_SELF);
}

static int run(char **words) {
    int status;
    double start = now();
    pid_t child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        execvp(words[0], words);
        perror(words[0]);
        _exit(127);
    }
    waitpid(child, &status, 0);
    tell(now() - start, RUSAGE_CHILDREN);
    return !WIFEXITED(status) || WEXITSTATUS(status);
}

int main(int count, char **arguments) {
    if (count < 3) return 2;
    const char *operation = arguments[1], *file = arguments[2];
    long many = count > 3 ? atol(arguments[3]) : 1000000;
    if (!strcmp(operation, "run")) return run(arguments + 2);
    if (!strcmp(operation, "tiny")) make_tiny(file, many == 4);
    else if (!strcmp(operation, "many")) make_many(file);
    else if (!strcmp(operation, "get1")) points(file, many, 0);
    else if (!strcmp(operation, "put1")) points(file, many, 1);
    else if (!strcmp(operation, "open")) opens(file, many);
    else if (!strcmp(operation, "series")) series(file, many);
    else if (!strcmp(operation, "records3")) records(file, many, 0, 0);
    else if (!strcmp(operation, "records4")) records(file, many, 0, 1);
    else if (!strcmp(operation, "rows3")) records(file, many, 100, 0);
    else if (!strcmp(operation, "rows4")) records(file, many, 100, 1);
    else if (!strcmp(operation, "rounds")) rounds(file, many);
    else make(file, operation, many);
    return 0;
}
