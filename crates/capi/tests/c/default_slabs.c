/* A format of the program with the library's functions in the places for steps and maps: which boxes its table is asked for. And
   the library's functions for netCDF-4 files, by their own names. */
#include "user_table.h"
int NCDEFAULT_get_vars(int, int, const size_t *, const size_t *, const ptrdiff_t *, void *, nc_type);
int NCDEFAULT_put_vars(int, int, const size_t *, const size_t *, const ptrdiff_t *, const void *, nc_type);
int NCDEFAULT_get_varm(int, int, const size_t *, const size_t *, const ptrdiff_t *, const ptrdiff_t *, void *, nc_type);
int NCDEFAULT_put_varm(int, int, const size_t *, const size_t *, const ptrdiff_t *, const ptrdiff_t *, const void *, nc_type);
int NC4_inq(int, int *, int *, int *, int *);
int NC4_inq_unlimdim(int, int *);
int NC4_inq_unlimdims(int, int *, int *);
int NC4_inq_dimid(int, const char *, int *);
int HDF5_inq_dim(int, int, char *, size_t *);
int NC4_inq_varid(int, const char *, int *);
int NC4_inq_var_all(int, int, char *, nc_type *, int *, int *, int *, int *, int *, int *, int *, int *, size_t *, int *, void *,
                    int *, unsigned *, size_t *, unsigned *);
int NC4_get_att(int, int, const char *, void *, nc_type);
int NC4_inq_att(int, int, const char *, nc_type *, size_t *);
int NC4_inq_grpname(int, char *);
int NC4_inq_ncid(int, const char *, int *);
int NC4_inq_typeid(int, const char *, nc_type *);
int NC4_show_metadata(int);

#define SHOW(call) printf("%s = %d\n", #call, (call))

static const char *base;
/* Rank and type of the variable. */
static int ranks = 2;
static nc_type own = NC_INT;

static int boxes(const char *what, const size_t *s, const size_t *c, const void *d, nc_type t) {
    printf("  %s", what);
    for (int i = 0; i < ranks; i++) printf(" %zu:%zu", s[i], c[i]);
    printf(" as %d at %ld\n", t, (long)((const char *)d - base));
    return 0;
}
static int get(int n, int v, const size_t *s, const size_t *c, void *d, nc_type t) { return boxes("get", s, c, d, t); }
static int put(int n, int v, const size_t *s, const size_t *c, const void *d, nc_type t) { return boxes("put", s, c, d, t); }
static int dim(int n, int i, char *s, size_t *l) {
    if (s) strcpy(s, "d");
    if (l) *l = i == 0 ? 2 : 3;
    return 0;
}
static int unlimited(int n, int *i) {
    if (i) *i = 0;
    return 0;
}
static int all_unlimited(int n, int *c, int *i) {
    if (c) *c = 1;
    if (i) *i = 0;
    return 0;
}
static int variable(int n, int v, char *name, nc_type *t, int *r, int *d, int *na, int *sh, int *de, int *dl, int *fl, int *co,
                    size_t *cs, int *nf, void *fv, int *en, unsigned *id, size_t *np, unsigned *ps) {
    if (t) *t = own;
    if (r) *r = ranks;
    for (int i = 0; d && i < ranks; i++) d[i] = i;
    return 0;
}
static int same_format(int n, int *f, int *m) {
    if (f) *f = 8;
    return 0;
}

static void steps(int n, int *x) {
    size_t s[2] = {0, 0}, e[2] = {2, 2}, s1[2] = {1, 1}, e0[2] = {0, 2}, big[2] = {2, 4}, end[2] = {2, 0}, last[2] = {0, 3};
    size_t row[2] = {2, 3};
    ptrdiff_t st[2] = {1, 2}, one[2] = {1, 1}, two[2] = {2, 1}, neg[2] = {1, -1}, zero[2] = {0, 1};
    SHOW(nc_get_vars_int(n, 0, s, e, st, x));
    SHOW(nc_get_vars_int(n, 0, s, e, one, x));
    SHOW(nc_get_vars_int(n, 0, s, e, two, x));
    SHOW(nc_get_vars_int(n, 0, s, row, NULL, x));
    SHOW(nc_get_vars_int(n, 0, s, NULL, st, x));
    SHOW(nc_get_vars_int(n, 0, NULL, NULL, st, x));
    SHOW(nc_get_vars_int(n, 0, s, e0, st, x));
    SHOW(nc_get_vars_int(n, 0, s, big, one, x));
    SHOW(nc_get_vars_int(n, 0, end, e, st, x));
    SHOW(nc_get_vars_int(n, 0, last, e, one, x));
    SHOW(nc_get_vars_int(n, 0, end, e0, st, x));
    SHOW(nc_get_vars_int(n, 0, s, e, neg, x));
    SHOW(nc_get_vars_int(n, 0, s, e, zero, x));
    SHOW(nc_get_vars(n, 0, s, e, st, x));
    SHOW(nc_get_vars_text(n, 0, s, e, st, (char *)x));
    SHOW(nc_get_vars_double(n, 0, s, e, st, (double *)x));
    SHOW(nc_put_vars_int(n, 0, s, e, st, x));
    SHOW(nc_put_vars_int(n, 0, s, e, one, x));
    SHOW(nc_put_vars_int(n, 0, s, e0, st, x));
    SHOW(nc_put_vars_int(n, 0, s, big, one, x));
    SHOW(nc_put_vars_int(n, 0, end, e, st, x));
    SHOW(nc_put_vars_int(n, 0, s, e, neg, x));
    SHOW(nc_put_vars(n, 0, s, e, st, x));
    SHOW(NCDEFAULT_get_vars(n, 0, s, e, NULL, x, 0));
    SHOW(NCDEFAULT_get_vars(n, 0, s, e, st, x, 12));
    SHOW(NCDEFAULT_get_vars(n, 0, s, e, st, x, 99));
    SHOW(NCDEFAULT_get_vars(n, 0, NULL, e, st, x, 4));
    SHOW(NCDEFAULT_put_vars(n, 0, NULL, e, st, x, 4));
    SHOW(NCDEFAULT_get_vars(n, 0, last, e, neg, x, 4));
    SHOW(NCDEFAULT_get_vars(n, 0, end, e, zero, x, 4));
    SHOW(NCDEFAULT_get_vars(n, 0, s, e0, neg, x, 4));
    SHOW(NCDEFAULT_get_vars(n, 0, s, big, neg, x, 4));
    SHOW(NCDEFAULT_get_varm(n, 0, s1, NULL, NULL, NULL, x, 4));
}

static void maps(int n, int *x) {
    size_t s[2] = {0, 0}, e[2] = {2, 2}, s1[2] = {1, 1}, e0[2] = {0, 2}, big[2] = {2, 4}, end[2] = {2, 0}, row[2] = {2, 3};
    ptrdiff_t st[2] = {1, 2}, one[2] = {1, 1}, two[2] = {2, 1}, neg[2] = {1, -1};
    ptrdiff_t swapped[2] = {1, 2}, plain[2] = {2, 1}, rows[2] = {3, 1}, back[2] = {-2, 1};
    SHOW(nc_get_varm_int(n, 0, s, e, st, plain, x));
    SHOW(nc_get_varm_int(n, 0, s, e, two, plain, x));
    SHOW(nc_get_varm_int(n, 0, s, e, one, swapped, x));
    SHOW(nc_get_varm_int(n, 0, s, e, NULL, swapped, x));
    SHOW(nc_get_varm_int(n, 0, s, e, st, NULL, x));
    SHOW(nc_get_varm_int(n, 0, s, row, one, rows, x));
    SHOW(nc_get_varm_int(n, 0, s, NULL, st, plain, x));
    SHOW(nc_get_varm_int(n, 0, s, NULL, NULL, NULL, x));
    SHOW(nc_get_varm_int(n, 0, NULL, NULL, NULL, NULL, x));
    SHOW(nc_get_varm_int(n, 0, s, e0, st, plain, x));
    SHOW(nc_get_varm_int(n, 0, s, big, st, plain, x));
    SHOW(nc_get_varm_int(n, 0, end, e, st, plain, x));
    SHOW(nc_get_varm_int(n, 0, s, e, neg, plain, x));
    SHOW(nc_get_varm_int(n, 0, s, e, one, back, x + 4));
    SHOW(nc_get_varm_text(n, 0, s, e, st, plain, (char *)x));
    SHOW(nc_get_varm_double(n, 0, s, e, st, plain, (double *)x));
    SHOW(nc_put_varm_int(n, 0, s, e, st, plain, x));
    SHOW(nc_put_varm_int(n, 0, s, e, one, swapped, x));
    SHOW(nc_put_varm_int(n, 0, s, e, st, NULL, x));
    SHOW(nc_put_varm_int(n, 0, s, e0, st, plain, x));
    SHOW(nc_put_varm_int(n, 0, s, big, st, plain, x));
    SHOW(nc_put_varm_int(n, 0, end, e, st, plain, x));
    SHOW(nc_put_varm_int(n, 0, s, e, neg, plain, x));
    SHOW(NCDEFAULT_get_varm(n, 0, s1, NULL, st, plain, x, 4));
    SHOW(NCDEFAULT_get_varm(n, 0, s, e0, neg, plain, x, 4));
    SHOW(NCDEFAULT_get_varm(n, 0, s, big, neg, plain, x, 4));
    SHOW(NCDEFAULT_get_varm(n, 0, s, e, one, plain, x, 0));
    SHOW(NCDEFAULT_get_varm(n, 0, s, e, one, plain, x, 2));
}

static void netcdf4(const char *folder) {
    char path[4096], name[NC_MAX_NAME + 1] = "-";
    int n, g, d[2], v, i, j, k, l, t, r, dims[2], natts, shuffle, fletcher, contiguous, no_fill, fill, endian, x[6] = {0};
    size_t chunks[2] = {2, 2}, z = 0, s[2] = {0, 0}, e[2] = {2, 2};
    ptrdiff_t st[2] = {1, 2}, map[2] = {1, 2};
    const int values[8] = {300, -1, 1, 2, 3, 4, 5, 6};
    short two[2] = {0, 0};
    signed char bytes[2] = {0, 0};
    snprintf(path, sizeof path, "%s/direct.nc", folder);
    SHOW(nc_create(path, NC_NETCDF4, &n));
    nc_def_dim(n, "x", 2, d);
    nc_def_dim(n, "y", 4, d + 1);
    nc_def_var(n, "v", NC_INT, 2, d, &v);
    nc_def_var_chunking(n, v, 0, chunks);
    nc_def_var_fletcher32(n, v, 1);
    nc_put_att_int(n, v, "a", NC_INT, 2, values);
    nc_def_grp(n, "g", &g);
    nc_enddef(n);
    SHOW(nc_put_var_int(n, v, values));
    SHOW(NC4_inq(n, &i, &j, &k, &l));
    printf("%d %d %d %d\n", i, j, k, l);
    SHOW(NC4_inq_unlimdim(n, &i));
    SHOW(NC4_inq_unlimdims(n, &i, NULL));
    SHOW(NC4_inq_dimid(n, "y", &i));
    SHOW(NC4_inq_dimid(n, "none", &i));
    SHOW(HDF5_inq_dim(n, i, name, &z));
    printf("%s %zu\n", name, z);
    SHOW(HDF5_inq_dim(n, 9, name, &z));
    SHOW(NC4_inq_varid(n, "v", &i));
    SHOW(NC4_inq_var_all(n, v, name, &t, &r, dims, &natts, &shuffle, NULL, NULL, &fletcher, &contiguous, chunks, &no_fill, &fill,
                         &endian, NULL, NULL, NULL));
    printf("%s %d %d %d %d %d %d %d %d %zu %zu %d %d %d\n", name, t, r, dims[0], dims[1], natts, shuffle, fletcher, contiguous,
           chunks[0], chunks[1], no_fill, fill, endian);
    SHOW(NC4_inq_var_all(n, v, NULL, NULL, NULL, NULL, NULL, NULL, &i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    SHOW(NC4_inq_var_all(n, -1, NULL, NULL, NULL, NULL, &natts, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                         NULL));
    printf("%d\n", natts);
    SHOW(NC4_get_att(n, v, "a", two, NC_SHORT));
    SHOW(NC4_get_att(n, v, "a", x, 0));
    SHOW(NC4_get_att(n, v, "a", bytes, NC_BYTE));
    printf("%d %d %d %d %d\n", two[0], two[1], x[0], bytes[0], bytes[1]);
    SHOW(NC4_get_att(n, v, "a", x, NC_CHAR));
    SHOW(NC4_get_att(n, v, "none", x, NC_INT));
    SHOW(NC4_get_att(7, v, "a", x, NC_INT));
    SHOW(NC4_inq_att(n, v, "a", &t, &z));
    SHOW(NC4_inq_grpname(g, name));
    SHOW(NC4_inq_ncid(n, "g", &i));
    SHOW(NC4_inq_ncid(n, "h", &i));
    SHOW(NC4_inq_typeid(n, "int", &t));
    printf("%s %d %d\n", name, i == g, t);
    SHOW(NC4_show_metadata(n));
    SHOW(NCDEFAULT_get_vars(n, v, s, e, st, x, NC_INT));
    printf("%d %d %d %d\n", x[0], x[1], x[2], x[3]);
    SHOW(NCDEFAULT_get_varm(n, v, s, e, st, map, x, NC_INT));
    printf("%d %d %d %d\n", x[0], x[1], x[2], x[3]);
    SHOW(NCDEFAULT_put_vars(n, v, s, e, st, values, NC_INT));
    SHOW(NCDEFAULT_put_varm(n, v, s, e, st, map, values + 2, NC_INT));
    SHOW(nc_close(n));
}

int main(int count, char **arguments) {
    char path[4096];
    int n = -7, x[40] = {0};
    if (count < 2) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    base = (const char *)x;
    NC_Dispatch t = table;
    t.inq_format_extended = same_format;
    t.inq_dim = dim;
    t.inq_unlimdim = unlimited;
    t.inq_unlimdims = all_unlimited;
    t.inq_var_all = variable;
    t.get_vara = get;
    t.put_vara = put;
    t.get_vars = NCDEFAULT_get_vars;
    t.put_vars = NCDEFAULT_put_vars;
    t.get_varm = NCDEFAULT_get_varm;
    t.put_varm = NCDEFAULT_put_varm;
    snprintf(path, sizeof path, "%s/boxes.udf", arguments[1]);
    FILE *file = fopen(path, "w");
    if (!file) return 3;
    fputs("MAGIC!!!body of the file, long enough", file);
    fclose(file);
    SHOW(nc_def_user_format(NC_UDF0, &t, "MAGIC!!!"));
    SHOW(nc_open(path, NC_UDF0, &n));
    steps(n, x);
    maps(n, x);
    ranks = 0;
    SHOW(NCDEFAULT_get_vars(n, 0, NULL, NULL, NULL, x, 4));
    SHOW(NCDEFAULT_put_varm(n, 0, NULL, NULL, NULL, NULL, x, 5));
    ranks = 1;
    own = NC_CHAR;
    SHOW(nc_get_vars_text(n, 0, (size_t[]){0}, (size_t[]){2}, (ptrdiff_t[]){1}, (char *)x));
    SHOW(nc_get_vars_int(n, 0, (size_t[]){0}, (size_t[]){2}, (ptrdiff_t[]){1}, x));
    SHOW(nc_close(n));
    netcdf4(arguments[1]);
    return 0;
}
