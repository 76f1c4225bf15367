/* What a call of a sequence works on: numbers of a seed, the files, and arguments that are mostly right. */
#include <netcdf.h>
#include <netcdf_filter.h>
#include <netcdf_mem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long state;
static unsigned pick(unsigned n) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)((state >> 33) % n);
}
static int one_in(unsigned n) { return pick(n) == 0; }

/* Every call has numbers of its own, so that leaving one out does not change the others. */
static void seed_with(unsigned long long seed, unsigned call) {
    state = (seed * 1000003ULL + call) * 0x9E3779B97F4A7C15ULL + 12345;
    for (int i = 0; i < 6; i++) pick(2);
}

enum { KINDS = 5, MOST_GROUPS = 6, MOST_TYPES = 8, RANK = 4 };
static const int kinds[KINDS] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};
static const char *const kind_names[KINDS] = {"classic", "64-bit-offset", "cdf5", "netcdf4", "netcdf4-classic"};
/* What has most calls comes most often. */
static int kind_of(unsigned long long seed) {
    static const int often[] = {0, 3, 1, 3, 2, 3, 4};
    return often[seed % (sizeof often / sizeof *often)];
}

typedef struct {
    char path[64];
    int ncid, kind, is_open, is_writable, in_memory;
    /* Opened with NC_SHARE: Debian's classic files forget names that are changed then. */
    int is_shared;
    /* netCDF-4 by nc_create_mem: Debian's keeps no order in it, and what is found then is another member. */
    int is_made_in_memory;
    int groups[MOST_GROUPS], group_count;
    int types[MOST_TYPES], type_count;
    /* Its elements that nobody wrote are whatever was there before. */
    int is_unfilled;
    /* An attribute was put again or deleted: netCDF-4 has no order of attributes any more that both libraries know. */
    int is_unordered;
    /* What it is made of while it is in memory that the program gave. */
    void *memory;
} Slot;
static Slot slots[2];
static int may_rename;
static int is_netcdf4(const Slot *slot) { return slot->kind >= 3; }
static int is_enhanced(const Slot *slot) { return slot->kind == 3; }

/* The arguments of the present call. */
static struct {
    Slot *slot;
    int nc, v, att_v, t, d[RANK];
    const char *n, *m;
    int rank;
    size_t start[RANK], count[RANK], len;
    ptrdiff_t stride[RANK], map[RANK];
} A;

static int code;
static int is_verbose;

/* Makes a call and tells its code. */
#define CALL(function, ...) (code = function(__VA_ARGS__), (void)printf("%s(%s) = %d\n", #function, #__VA_ARGS__, code))
/* As CALL, and what it answered, if it did. */
#define ASK(function, args, format, ...)                              \
    do {                                                              \
        code = function args;                                         \
        printf("%s%s = %d", #function, #args, code);                  \
        if (code == 0) printf(" " format, __VA_ARGS__);               \
        putchar('\n');                                                \
    } while (0)

static char long_name[NC_MAX_NAME + 2];
static const char *const good_names[] = {"x", "y", "t", "a", "b", "units", "long_name", "u\xc3\xa9", "x1", "name_that_is_longer", "g", "_FillValue"};
static const char *const bad_names[] = {"", "a/b", "ends ", " begins", "\xff\xfe", "\x01", "/", ".", "e\xcc\x81", "two words", "+x", "_NCProperties", "_Netcdf4Dimid", "CLASS", long_name};
static const char *good_name(void) { return good_names[pick(one_in(6) ? 12 : 11)]; }
static const char *name(void) { return one_in(30) ? bad_names[pick(sizeof bad_names / sizeof *bad_names)] : good_name(); }

static int draw_type(const Slot *slot) {
    if (one_in(50)) return (int)pick(60) - 3;
    if (is_enhanced(slot) && slot->type_count && one_in(3)) return slot->types[pick((unsigned)slot->type_count)];
    return 1 + (int)pick(one_in(6) ? 12 : slot->kind == 2 ? 11 : is_enhanced(slot) ? 12 : 6);
}

/* Half of all calls find the file in the mode that they need, if it has modes. */
static void define_mode(void) {
    if (one_in(2)) nc_redef(A.slot->ncid);
}
static void data_mode(void) {
    if (one_in(2)) nc_enddef(A.slot->ncid);
}

/* Kinds of files without groups and types refuse them, which is asked of a few. */
static int is_refused(void) { return !is_enhanced(A.slot) && !one_in(5); }

/* Groups, types, dimensions and variables of netCDF-4 share their names in HDF5, which Debian's library notices when it writes them. */
static int is_clash(void) {
    int id;
    if (!is_netcdf4(A.slot) || one_in(200)) return 0;
    return nc_inq_varid(A.nc, A.n, &id) == 0 || nc_inq_dimid(A.nc, A.n, &id) == 0 || nc_inq_typeid(A.nc, A.n, &id) == 0 || nc_inq_grp_ncid(A.nc, A.n, &id) == 0;
}

static int draw_dim(int nc) {
    int n = 0, list[NC_MAX_DIMS];
    if (one_in(20) || nc_inq_dimids(nc, &n, list, 1) || n == 0) return (int)pick(8) - 1;
    return list[pick((unsigned)n)];
}

static void draw_name_of_attribute(void) {
    int n = 0;
    static char text[NC_MAX_NAME + 1];
    if (one_in(3) || nc_inq_varnatts(A.nc, A.att_v, &n) || n == 0) return;
    if (nc_inq_attname(A.nc, A.att_v, (int)pick((unsigned)n), text) == 0) A.n = text;
}

static int draw_nc(const Slot *slot) {
    if (one_in(30)) {
        const int wrong[] = {-1, 0, slot->ncid | 0xfff, 0x7fff0000, slot->ncid + 1, slot->ncid + 65536};
        return wrong[pick(6)];
    }
    if (slot->group_count && one_in(3)) return slot->groups[pick((unsigned)slot->group_count)];
    return slot->ncid;
}

static int draw_variable(int nc) {
    int n = 0;
    if (nc_inq_nvars(nc, &n) || n == 0 || one_in(20)) return (int)pick((unsigned)n + 4) - 2;
    return (int)pick((unsigned)n);
}

static int is_unlimited(int nc, int dim) {
    int n = 0, list[NC_MAX_DIMS];
    nc_inq_unlimdims(nc, &n, list);
    for (int i = 0; i < n; i++)
        if (list[i] == dim) return 1;
    return 0;
}

/* A slab of the variable, or something beside it. */
static void draw_slab(void) {
    int dims[NC_MAX_VAR_DIMS];
    for (int i = 0; i < RANK; i++) A.start[i] = 0, A.count[i] = A.stride[i] = A.map[i] = 1;
    A.rank = 0;
    if (nc_inq_varndims(A.nc, A.v, &A.rank) || A.rank > RANK || nc_inq_vardimid(A.nc, A.v, dims)) {
        A.rank = 0;
        return;
    }
    for (int i = 0; i < A.rank; i++) {
        size_t len = 0;
        nc_inq_dimlen(A.nc, dims[i], &len);
        if (is_unlimited(A.nc, dims[i]) && one_in(2)) len += 1 + pick(3);
        A.start[i] = len ? pick((unsigned)len) : 0;
        size_t left = len - A.start[i];
        A.stride[i] = one_in(3) ? 2 : 1;
        size_t most = left ? (left - 1) / (size_t)A.stride[i] + 1 : 0;
        A.count[i] = most ? 1 + pick((unsigned)most) : 0;
        if (A.count[i] > 6) A.count[i] = 6;
    }
    if (A.rank && one_in(7)) {
        int axis = (int)pick((unsigned)A.rank);
        switch (pick(7)) {
        case 0: A.start[axis] += 1 + pick(4); break;
        case 1: A.count[axis] += 1 + pick(4); break;
        case 2: A.count[axis] = 0; break;
        case 3: A.stride[axis] = 0; break;
        case 4: A.stride[axis] = -1; break;
        case 5: A.stride[axis] += 2; break;
        case 6: A.start[axis] = 9; break;
        }
    }
    ptrdiff_t map = 1 + one_in(4);
    int is_turned = one_in(3);
    for (int i = 0; i < A.rank; i++) {
        int axis = is_turned ? i : A.rank - 1 - i;
        A.map[axis] = map;
        map *= (ptrdiff_t)(A.count[axis] ? A.count[axis] : 1);
    }
}

static void draw_arguments(void) {
    A.slot = &slots[slots[1].path[0] && one_in(4)];
    A.nc = draw_nc(A.slot);
    A.v = draw_variable(A.nc);
    A.att_v = one_in(3) ? NC_GLOBAL : A.v;
    A.t = draw_type(A.slot);
    for (int i = 0; i < RANK; i++) A.d[i] = draw_dim(A.nc);
    A.n = name();
    A.m = one_in(3) ? name() : good_name();
    A.len = one_in(8) ? pick(12) : 1 + pick(3);
    draw_slab();
    if (!is_verbose) return;
    printf("    file %d, nc %x, v %d, att_v %d, t %d, d %d %d %d, n \"%.20s\", m \"%.20s\", len %zu;", A.slot == slots + 1, (unsigned)A.nc, A.v, A.att_v, A.t, A.d[0], A.d[1], A.d[2], A.n, A.m, A.len);
    for (int i = 0; i < A.rank; i++) printf(" %zu+%zu*%td@%td", A.start[i], A.count[i], A.stride[i], A.map[i]);
    putchar('\n');
}
