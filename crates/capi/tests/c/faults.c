/* A panic in a call, at a place that the environment names: that call fails, its file is given up, and all others go on. */
#include <dirent.h>
#include <ncirrus.h>
#include <netcdf.h>
#include <netcdf_mem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 40000

static char path[4096], other_path[4096];
static const char *folder, *kind;
static int other, opened, cases, wrong;
static int values[COUNT], found[COUNT];

#define CHECK(what, condition) \
    do { \
        if (!(condition)) printf("%s %s: %s: %s\n", kind, what, #condition, nci_last_error()), wrong++; \
    } while (0)

static int is_zarr(void) { return strcmp(kind, "zarr") == 0; }
static int is_classic(void) { return strcmp(kind, "classic") == 0; }

/* What programs do with a file. */
static const size_t zero[1] = {0}, some[1] = {100};
static int number = 5;
static int id_of_new;
static size_t len_of_path;
static int inq(int id) { return nc_inq(id, &number, NULL, NULL, NULL); }
static int inq_path(int id) { return nc_inq_path(id, &len_of_path, NULL); }
static int inq_varid(int id) { return nc_inq_varid(id, "v", &number); }
static int inq_att(int id) { return nc_inq_attlen(id, NC_GLOBAL, "a", &len_of_path); }
static int redef(int id) { return nc_redef(id); }
static int enddef(int id) { return nc_enddef(id); }
static int def_dim(int id) { return nc_def_dim(id, "y", 3, &number); }
static int def_var(int id) { return nc_def_var(id, "w", NC_INT, 0, NULL, &number); }
static int rename_var(int id) { return nc_rename_var(id, 0, "u"); }
static int put_att(int id) { return nc_put_att_int(id, NC_GLOBAL, "b", NC_INT, 1, values); }
static int get_att(int id) { return nc_get_att_int(id, NC_GLOBAL, "a", &number); }
static int del_att(int id) { return nc_del_att(id, NC_GLOBAL, "a"); }
static int get_var(int id) { return nc_get_var_int(id, 0, found); }
static int get_vara(int id) { return nc_get_vara_int(id, 0, zero, some, found); }
static int put_var(int id) { return nc_put_var_int(id, 0, values + 1); }
static int put_vara(int id) { return nc_put_vara_int(id, 0, zero, some, values + 1); }
static int sync_it(int id) { return nc_sync(id); }
static int close_it(int id) { return nc_close(id); }
static int abort_it(int id) { return nc_abort(id); }
static int old_inquire(int id) { return ncinquire(id, NULL, NULL, NULL, NULL) == -1 ? ncerr : 0; }
static int get_some(int id) {
    for (size_t i = 0; i < 4; i++) {
        int code = nc_get_var1_int(id, 0, &i, found);
        if (code) return code;
    }
    return 0;
}
static int put_many(int id) {
    for (size_t i = 0; i < COUNT; i++) {
        int code = nc_put_var1_int(id, 0, &i, values + 1);
        if (code) return code;
    }
    return 0;
}
static int put_few(int id) {
    for (size_t i = 0; i < 9; i++) {
        int code = nc_put_var1_int(id, 0, &i, values + 1);
        if (code) return code;
    }
    return 0;
}
static int open_again(int id) { return nc_open(path, id == 0 ? NC_NOWRITE : NC_WRITE, &id_of_new); }
static int create_again(int id) { return nc_create(path, is_classic() ? 0 : NC_NETCDF4, id ? &id_of_new : NULL); }

enum { READS = 1, STRICT_DEFINES = 2, NO_ZARR = 4, ONE_HANDLE = 8 };

typedef struct {
    const char *fault;
    int (*call)(int id);
    /* What is done before. */
    int (*before)(int id);
    int how;
} Fault;

/* The file is open when the call is made, and is given up. */
static const Fault faults[] = {
    {"nc_inq:File", inq, NULL, 0},
    {"nc_inq:File", inq, NULL, READS},
    {"nc_inq_path:File", inq_path, NULL, READS},
    {"nc_inq_varid:File", inq_varid, NULL, READS},
    {"nc_inq_attlen:File", inq_att, NULL, READS},
    {"nc_redef:State", redef, NULL, STRICT_DEFINES},
    {"nc_enddef:State", enddef, redef, 0},
    {"nc_def_dim:File", def_dim, redef, 0},
    {"nc_def_dim:State", def_dim, redef, 0},
    {"nc_def_var:State", def_var, redef, 0},
    {"nc_rename_var:State", rename_var, redef, 0},
    {"nc_put_att_int:State", put_att, redef, 0},
    {"nc_del_att:State", del_att, redef, 0},
    {"nc_get_att_int:File", get_att, NULL, 0},
    {"nc_get_att_int:File", get_att, NULL, READS},
    {"nc_get_var_int:File", get_var, NULL, READS},
    {"nc_get_vara_int:File", get_vara, NULL, 0},
    {"nc_get_var1_int:Block", get_some, NULL, READS},
    {"nc_get_vara_int:Run", get_vara, put_few, 0},
    {"nc_put_var_int:File", put_var, NULL, 0},
    {"nc_put_vara_int:File", put_vara, get_some, 0},
    {"nc_put_var1_int:Run", put_many, NULL, 0},
    {"nc_sync:File", sync_it, NULL, 0},
    {"nc_sync:Alone", sync_it, put_few, 0},
    {"nc_sync:State", sync_it, put_few, 0},
    {"nc_sync:Run", sync_it, put_few, 0},
    {"nc_open:Alone", open_again, put_few, NO_ZARR},
    {"nc_open:State", open_again, put_few, NO_ZARR},
    {"ncinquire:File", old_inquire, NULL, READS},
};

/* The call ends the id itself. */
static const Fault ends[] = {
    {"nc_close:Released", close_it, put_few, 0},
    {"nc_close:Alone", close_it, put_few, 0},
    {"nc_close:State", close_it, put_few, 0},
    {"nc_close:Run", close_it, put_few, 0},
    {"nc_close:State", close_it, NULL, READS},
    {"nc_close:End", close_it, put_few, ONE_HANDLE},
    {"nc_abort:Released", abort_it, redef, 0},
    {"nc_abort:Alone", abort_it, redef, 0},
    {"nc_abort:State", abort_it, redef, 0},
};

/* No file is open yet. */
static const Fault opens[] = {
    {"nc_open:Begin", open_again, NULL, 0},
    {"nc_open:Opened", open_again, NULL, 0},
    {"nc_create:Begin", create_again, NULL, 0},
    {"nc_create:Opened", create_again, NULL, 0},
};

static int make(const char *at) {
    int id, x, v, failed = 0, one = 7;
    failed |= nc_create(at, is_classic() ? 0 : NC_NETCDF4, &id);
    failed |= nc_def_dim(id, "x", COUNT, &x);
    failed |= nc_def_var(id, "v", NC_INT, 1, &x, &v);
    failed |= nc_put_att_int(id, NC_GLOBAL, "a", NC_INT, 1, &one);
    failed |= nc_enddef(id);
    failed |= nc_put_var_int(id, v, values);
    return failed | nc_close(id);
}

static int fail(const Fault *fault, int id) {
    setenv("NCIRRUS_FAULT", fault->fault, 1);
    int code = fault->call(id);
    setenv("NCIRRUS_FAULT", "", 1);
    return code;
}

static int entries(void) {
    int count = 0;
    DIR *listing = opendir(folder);
    while (listing && readdir(listing)) count++;
    if (listing) closedir(listing);
    return count;
}

/* The other file is as usable as before. */
static void check_other(const char *what) {
    static int round = 0;
    round++;
    CHECK(what, nc_put_vara_int(other, 0, zero, some + 0, values + round % 7) == 0);
    CHECK(what, nc_sync(other) == 0);
    CHECK(what, nc_get_vara_int(other, 0, zero, some, found) == 0);
    CHECK(what, found[99] == values[99 + round % 7]);
}

/* The old file stands there, whole. */
static void check_old(const char *what, int first) {
    int id;
    CHECK(what, nc_open(path, 0, &id) == 0);
    CHECK(what, id == first);
    memset(found, 0, sizeof found);
    CHECK(what, nc_get_var_int(id, 0, found) == 0);
    CHECK(what, memcmp(found, values, sizeof found) == 0);
    CHECK(what, nc_get_att_int(id, NC_GLOBAL, "a", &number) == 0 && number == 7);
    CHECK(what, nc_inq_varid(id, "w", &number) == NC_ENOTVAR);
    CHECK(what, nc_close(id) == 0);
}

static void check_given_up(const char *what, const char *call, int id) {
    int (*const later[])(int) = {inq, get_att, get_var, get_some, put_var, put_few, put_att, def_dim, redef, enddef, sync_it};
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        int code = later[i](id);
        if (code != NC_EINTERNAL) printf("%s %s: later call %zu is %d\n", kind, what, i, code), wrong++;
    }
    CHECK(what, inq(id) == NC_EINTERNAL);
    CHECK(what, strstr(nci_last_error(), "faults."));
    CHECK(what, strstr(nci_last_error(), "given up"));
    CHECK(what, strstr(nci_last_error(), call));
}

static void run(const Fault *fault, int ends_id) {
    char call[64];
    int first, second = -1, reads = fault->how & READS;
    if (is_zarr() && fault->how & NO_ZARR) return;
    if (fault->how & STRICT_DEFINES && !is_classic()) return;
    snprintf(call, sizeof call, "%.*s", (int)strcspn(fault->fault, ":"), fault->fault);
    cases++;
    CHECK(fault->fault, make(path) == 0);
    int before = entries();
    CHECK(fault->fault, nc_open(path, reads ? NC_NOWRITE : NC_WRITE, &first) == 0);
    /* Two handles of what is written share it. */
    if (!is_zarr() && !(fault->how & (READS | ONE_HANDLE))) CHECK(fault->fault, nc_open(path, NC_WRITE, &second) == 0);
    if (fault->before) {
        int code = fault->before(first);
        CHECK(fault->fault, code == 0);
    }
    CHECK(fault->fault, fail(fault, first) == NC_EINTERNAL);
    CHECK(fault->fault, strstr(nci_last_error(), "injected at"));
    CHECK(fault->fault, strstr(nci_last_error(), "faults."));
    CHECK(fault->fault, strstr(nci_last_error(), call));
    check_other(fault->fault);
    if (!ends_id) {
        check_given_up(fault->fault, call, first);
        CHECK(fault->fault, nc_close(first) == (reads ? 0 : NC_EINTERNAL));
    }
    CHECK(fault->fault, nc_close(first) == NC_EBADID);
    if (second != -1) {
        check_given_up(fault->fault, call, second);
        CHECK(fault->fault, nc_abort(second) == 0);
    }
    check_old(fault->fault, first);
    CHECK(fault->fault, entries() == before);
}

static void run_open(const Fault *fault) {
    cases++;
    CHECK(fault->fault, make(path) == 0);
    int before = entries();
    for (int writes = 0; writes < 2; writes++) {
        CHECK(fault->fault, fail(fault, writes) == NC_EINTERNAL);
        CHECK(fault->fault, strstr(nci_last_error(), "injected at"));
        CHECK(fault->fault, !strstr(nci_last_error(), "given up"));
        check_other(fault->fault);
        check_old(fault->fault, opened);
        CHECK(fault->fault, entries() == before);
    }
}

/* Files in memory: their bytes are nobody's any more. */
static void run_in_memory(void) {
    const Fault fault = {"nc_put_var_int:File", put_var, NULL, 0};
    NC_memio memory = {0, NULL, 0};
    int id, x, v;
    cases++;
    CHECK("memory", nc_create_mem("m", is_classic() ? 0 : NC_NETCDF4, 0, &id) == 0);
    CHECK("memory", nc_def_dim(id, "x", COUNT, &x) == 0);
    CHECK("memory", nc_def_var(id, "v", NC_INT, 1, &x, &v) == 0);
    CHECK("memory", nc_enddef(id) == 0);
    CHECK("memory", fail(&fault, id) == NC_EINTERNAL);
    CHECK("memory", nc_sync(id) == NC_EINTERNAL);
    CHECK("memory", nc_close_memio(id, &memory) == NC_EINTERNAL);
    CHECK("memory", memory.memory == NULL);
    CHECK("memory", nc_close(id) == NC_EBADID);
}

/* A new file that is given up, and left open by the program. */
static void leave_open(void) {
    const Fault fault = {"nc_put_var_int:File", put_var, NULL, 0};
    char left[4200];
    int id, x, v;
    snprintf(left, sizeof left, is_zarr() ? "file://%s/left.zarr#mode=nczarr,file" : "%s/left.nc", folder);
    CHECK("left", nc_create(left, is_classic() ? 0 : NC_NETCDF4, &id) == 0);
    CHECK("left", nc_def_dim(id, "x", COUNT, &x) == 0);
    CHECK("left", nc_def_var(id, "v", NC_INT, 1, &x, &v) == 0);
    CHECK("left", nc_enddef(id) == 0);
    CHECK("left", put_var(id) == 0);
    CHECK("left", fail(&fault, id) == NC_EINTERNAL);
}

int main(int count, char **arguments) {
    if (count < 3) return 2;
    folder = arguments[1];
    kind = arguments[2];
    ncopts = 0;
    for (int i = 0; i < COUNT; i++) values[i] = i;
    snprintf(path, sizeof path, is_zarr() ? "file://%s/faults.zarr#mode=nczarr,file" : "%s/faults.nc", folder);
    snprintf(other_path, sizeof other_path, "%s/other.nc", folder);
    CHECK("other", make(other_path) == 0);
    CHECK("other", nc_open(other_path, NC_WRITE, &other) == 0);
    CHECK("path", make(path) == 0 && nc_open(path, 0, &opened) == 0 && nc_close(opened) == 0);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) run(faults + i, 0);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) run(ends + i, 1);
    for (size_t i = 0; i < sizeof opens / sizeof *opens; i++) run_open(opens + i);
    run_in_memory();
    leave_open();
    CHECK("other", nc_close(other) == 0);
    printf("%d cases, %d wrong\n", cases, wrong);
    return 0;
}
