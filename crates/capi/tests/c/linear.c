/* Counts the allocations of a process while it defines many members: FILE CASE COUNT. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static unsigned long calls, bytes;

static void note(size_t len) {
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&bytes, len, __ATOMIC_RELAXED);
}

void *malloc(size_t len) {
    note(len);
    return __libc_malloc(len);
}

void *calloc(size_t count, size_t len) {
    note(count * len);
    return __libc_calloc(count, len);
}

void *realloc(void *block, size_t len) {
    note(len);
    return __libc_realloc(block, len);
}

static int ncid, dim, grown;

static int attribute(int at) {
    char name[20];
    snprintf(name, sizeof name, "name_%d", at);
    return nc_put_att_text(ncid, NC_GLOBAL, name, 5, "value");
}

static int variable(int at, int *id) {
    char name[20];
    snprintf(name, sizeof name, "name_%d", at);
    return nc_def_var(ncid, name, NC_INT, 1, &dim, id) || nc_put_att_text(ncid, *id, "units", 1, "m");
}

static int dimension(int at) {
    char name[20];
    int id;
    snprintf(name, sizeof name, "d_%d", at);
    return nc_def_dim(ncid, name, 3, &id);
}

/* Definitions in rounds of their own, each with a record after it. */
static int round_of(int at, int record) {
    size_t index = at;
    return nc_redef(ncid) || attribute(at) || nc_enddef(ncid) || nc_put_var1_int(ncid, record, &index, &at);
}

/* Records of four variables of netCDF-3, put by turns. */
static int put_by_turns(const char *path, int count) {
    enum { VARIABLES = 4 };
    int ids[VARIABLES];
    char name[20];
    if (nc_close(ncid) || nc_create(path, NC_CLOBBER, &ncid) || nc_def_dim(ncid, "t", NC_UNLIMITED, &grown)) return 1;
    for (int of = 0; of < VARIABLES; of++) {
        snprintf(name, sizeof name, "v%d", of);
        if (nc_def_var(ncid, name, NC_INT, 1, &grown, ids + of)) return 2;
    }
    if (nc_enddef(ncid)) return 3;
    for (int record = 0; record < count; record++)
        for (int of = 0; of < VARIABLES; of++) {
            size_t start = record, one = 1;
            if (nc_put_vara_int(ncid, ids[of], &start, &one, &record)) return 4;
        }
    return 0;
}

static int defined(const char *what, int count) {
    int record = 0;
    if (nc_def_dim(ncid, "x", 1, &dim) || nc_def_dim(ncid, "t", NC_UNLIMITED, &grown)) return 1;
    if (!strcmp(what, "rounds") && (nc_def_var(ncid, "r", NC_INT, 1, &grown, &record) || nc_enddef(ncid))) return 1;
    for (int at = 0; at < count; at++) {
        int id = 0, code = 0;
        if (!strcmp(what, "attributes")) code = attribute(at);
        else if (!strcmp(what, "variables")) code = variable(at, &id);
        else if (!strcmp(what, "dimensions")) code = dimension(at);
        else if (!strcmp(what, "values")) code = variable(at, &id) || nc_put_var_int(ncid, id, &at);
        else code = round_of(at, record);
        if (code) return code;
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    /* What is made once in a process is not counted. */
    if (nc_create(argv[1], NC_NETCDF4 | NC_CLOBBER, &ncid) || nc_close(ncid)) return 3;
    if (nc_create(argv[1], NC_NETCDF4 | NC_CLOBBER, &ncid)) return 4;
    unsigned long first_calls = calls, first_bytes = bytes;
    int code = strcmp(argv[2], "turns") ? defined(argv[2], atoi(argv[3])) : put_by_turns(argv[1], atoi(argv[3]));
    if (code || nc_close(ncid)) return 5;
    printf("%lu %lu\n", calls - first_calls, bytes - first_bytes);
    return 0;
}
