/* Values as text: `nc_dump_data`. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int c, char **a) {
    int n, v, o, en, cm, vs, vc;
    char *b = NULL, path[999];
    int ints[] = {1, -2, 3};
    snprintf(path, 999, "%s/dump.nc", a[1]);
    nc_create(path, NC_NETCDF4 | NC_CLOBBER, &n);
    nc_def_vlen(n, "vl", NC_INT, &v);
    nc_def_opaque(n, 3, "op", &o);
    nc_def_enum(n, NC_BYTE, "en", &en);
    signed char e = 1;
    nc_insert_enum(n, en, "ONE", &e);
    struct S {
        int i;
        double d;
        char ch[3];
    } s[2] = {{1, 2.5, "ab"}, {3, 1e300, "xyz"}};
    int three = 3;
    nc_def_compound(n, sizeof(struct S), "cm", &cm);
    nc_insert_compound(n, cm, "i", 0, NC_INT);
    nc_insert_compound(n, cm, "d", 8, NC_DOUBLE);
    nc_insert_array_compound(n, cm, "ch", 16, NC_CHAR, 1, &three);
    nc_def_vlen(n, "vs", NC_STRING, &vs);
    nc_def_vlen(n, "vc", cm, &vc);
#define D(type, mem, count)                                                                                                      \
    do {                                                                                                                         \
        b = NULL;                                                                                                                \
        int r = nc_dump_data(n, type, mem, count, &b);                                                                           \
        printf("%s %d: %d [%s]\n", #type, (int)count, r, r ? "" : b ? b : "null");                                               \
        if (!r) free(b);                                                                                                         \
    } while (0)
    D(NC_INT, ints, 3);
    D(NC_INT, ints, 1);
    D(NC_INT, ints, 0);
    signed char bs[] = {-1, 2};
    D(NC_BYTE, bs, 2);
    unsigned char ub[] = {200, 2};
    D(NC_UBYTE, ub, 2);
    char cs[] = "a\n\"'\\\x01\x7f";
    D(NC_CHAR, cs, 7);
    short sh[] = {-3, 4};
    D(NC_SHORT, sh, 2);
    unsigned short us[] = {65535};
    D(NC_USHORT, us, 1);
    unsigned u[] = {2000000000u};
    D(NC_UINT, u, 1);
    long long ll[] = {-9000000000ll};
    D(NC_INT64, ll, 1);
    unsigned long long ul[] = {18000000000000000000ull};
    D(NC_UINT64, ul, 1);
    float f[] = {1.5f, 1e20f, 3.14159274f, 0.f / 0.f};
    D(NC_FLOAT, f, 4);
    double d[] = {1.5, 1e300, 3.14159265358979, -0.0};
    D(NC_DOUBLE, d, 4);
    char *st[] = {"one", "t\"w\no", ""};
    D(NC_STRING, st, 3);
    char *nl[] = {NULL};
    D(NC_STRING, nl, 1);
    unsigned char op[] = {0xde, 0xad, 1, 2, 3, 4};
    D(o, op, 2);
    D(en, bs, 2);
    D(cm, s, 2);
    D(cm, s, 1);
    nc_vlen_t vl[] = {{3, ints}, {0, NULL}};
    D(v, vl, 2);
    nc_vlen_t v1[] = {{2, st}};
    D(vs, v1, 1);
    nc_vlen_t v2[] = {{2, s}};
    D(vc, v2, 1);
    D(99, ints, 1);
    D(0, ints, 1);
    D(-1, ints, 1);
    printf("%d\n", nc_dump_data(n, NC_INT, NULL, 1, &b));
    printf("%d\n", nc_dump_data(n, NC_INT, ints, 1, NULL));
    b = NULL;
    printf("%d\n", nc_dump_data(77, NC_INT, ints, 1, &b));
    free(b);
    printf("%d\n", nc_dump_data(77, 40, ints, 1, &b));
    b = NULL;
    printf("%d\n", nc_dump_data(n, NC_INT, NULL, 0, &b));
    free(b);
    nc_close(n);
    return 0;
}
