/* Calls that a seed chooses, with right and wrong arguments, on one or two files: prints each call with what it returned and gave. */
#include <netcdf.h>
#include <netcdf_filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long state;
static unsigned pick(unsigned n) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)((state >> 33) % n);
}
#define SHOW(call) (code = (call), (void)printf("%s = %d\n", #call, code))
static int code;
static const char *names[] = {"x", "y", "t", "a", "b", "long_name", "_FillValue", "bad/name", "", "ends ", "u\xc3\xa9", "x1", "longer_name_of_it", "\xff"};
static const char *name(void) { return names[pick(4) ? pick(6) : pick(14)]; }
static int files[2] = {-1, -1};
static int varid(void) { return pick(6) ? (int)pick(4) : (int)pick(9) - 2; }
static int dimid(void) { return pick(6) ? (int)pick(3) : (int)pick(8) - 1; }
static int type(void) { return pick(5) ? 1 + (int)pick(6) : (int)pick(14) - 1; }
static size_t index_of(void) { return pick(8) ? pick(4) : pick(12); }

static void contents(int ncid) {
    int ndims, nvars, natts, unlim, list[64], ty, n;
    char text[NC_MAX_NAME + 1];
    size_t len;
    if (nc_inq(ncid, &ndims, &nvars, &natts, &unlim)) return;
    printf("has %d %d %d %d\n", ndims, nvars, natts, unlim);
    for (int d = 0; d < ndims; d++)
        if (!nc_inq_dim(ncid, d, text, &len)) printf(" dim %d %s %zu\n", d, text, len);
    for (int v = -1; v < nvars; v++) {
        if (v >= 0) {
            if (nc_inq_var(ncid, v, text, &ty, &n, list, &natts)) continue;
            printf(" var %d %s %d %d:", v, text, ty, n);
            for (int i = 0; i < n; i++) printf(" %d", list[i]);
            printf("\n");
        }
        for (int a = 0; a < natts; a++)
            if (!nc_inq_attname(ncid, v, a, text) && !nc_inq_att(ncid, v, text, &ty, &len)) {
                printf("  att %s %d %zu", text, ty, len);
                double values[16] = {0};
                if (ty == NC_CHAR) { char t[17] = ""; nc_get_att_text(ncid, v, text, t); printf(" %s", t); }
                else if (ty != NC_STRING && !nc_get_att_double(ncid, v, text, values))
                    for (size_t i = 0; i < len; i++) printf(" %g", values[i]);
                printf("\n");
            }
    }
}

int main(int count, char **arguments) {
    if (count < 4) return 2;
    state = strtoull(arguments[1], 0, 10) * 2654435761ULL + 12345;
    int mode = atoi(arguments[3]);
    const char *path = arguments[2];
    int calls = 25 + pick(36), id = -7, old = -7;
    for (int i = 0; i < 8; i++) pick(2);
    SHOW(nc_create(path, mode, &files[0]));
    int *f = &files[0];
    /* A start that most sequences share, so that later calls have something to work on. */
    if (pick(5)) SHOW(nc_def_dim(*f, "t", NC_UNLIMITED, &id));
    if (pick(5)) SHOW(nc_def_dim(*f, "x", 3, &id));
    if (pick(3)) { int d[2] = {0, 1}; SHOW(nc_def_var(*f, "a", type(), 2, d, &id)); }
    if (pick(3)) { int d[1] = {1}; SHOW(nc_def_var(*f, "b", type(), 1, d, &id)); }
    int ints[64], out[64];
    signed char bytes[64]; unsigned char ubytes[64]; short shorts[64]; float floats[64]; double doubles[64]; char text[300];
    long long longs[64]; unsigned int uints[64];
    for (int i = 0; i < calls; i++) {
        for (int k = 0; k < 64; k++) {
            int v = pick(6) ? (int)pick(100) - 20 : (int)pick(100000) - 50000;
            ints[k] = v; bytes[k] = (signed char)v; ubytes[k] = (unsigned char)v; shorts[k] = (short)v;
            floats[k] = v * 0.5f; doubles[k] = pick(9) ? v * 0.25 : v * 1e15; text[k] = 'a' + k % 26; longs[k] = (long long)v * (pick(5) ? 1 : 1000000007LL);
            uints[k] = (unsigned)v; out[k] = -99;
        }
        size_t start[4], edge[4]; ptrdiff_t stride[4], map[4] = {3, 1, 1, 1};
        for (int k = 0; k < 4; k++) { start[k] = index_of(); edge[k] = pick(8) ? 1 + pick(2) : pick(5); stride[k] = pick(8) ? 1 + pick(2) : (int)pick(4) - 1; }
        int nc = pick(25) ? *f : *f + (int)pick(3) - 1, v = varid(), t = type(), d[4] = {dimid(), dimid(), dimid(), dimid()};
        const char *n = name(), *m = name();
        size_t len = pick(8) ? 1 + pick(3) : pick(12);
        switch (pick(62)) {
        case 0: SHOW(nc_def_dim(nc, n, pick(4) ? pick(5) : 0, &id)); printf("%d\n", id); break;
        case 1: case 2: { int r = pick(3); SHOW(nc_def_var(nc, n, t, r, d, &id)); printf("%d\n", id); break; }
        case 3: case 4: case 5: case 6: SHOW(nc_enddef(nc)); break;
        case 7: case 8: SHOW(nc_redef(nc)); break;
        case 9: SHOW(nc_sync(nc)); break;
        case 10: SHOW(nc_put_att_text(nc, v - 1, n, len, text)); break;
        case 11: SHOW(nc_put_att_int(nc, v - 1, n, t, len, ints)); break;
        case 12: SHOW(nc_put_att_double(nc, v - 1, n, t, len, doubles)); break;
        case 13: SHOW(nc_put_att_schar(nc, v - 1, n, t, len, bytes)); break;
        case 14: SHOW(nc_put_att_uchar(nc, v - 1, n, t, len, ubytes)); break;
        case 15: SHOW(nc_put_att_longlong(nc, v - 1, n, t, len, longs)); break;
        case 16: SHOW(nc_del_att(nc, v - 1, n)); break;
        case 17: SHOW(nc_rename_att(nc, v - 1, n, m)); break;
        case 18: SHOW(nc_rename_dim(nc, dimid(), n)); break;
        case 19: SHOW(nc_rename_var(nc, v, n)); break;
        case 20: SHOW(nc_copy_att(nc, v - 1, n, *f, varid() - 1)); break;
        case 21: SHOW(nc_put_var_int(nc, v, ints)); break;
        case 22: SHOW(nc_put_vara_int(nc, v, start, edge, ints)); break;
        case 23: SHOW(nc_put_vara_double(nc, v, start, edge, doubles)); break;
        case 24: SHOW(nc_put_vara_text(nc, v, start, edge, text)); break;
        case 25: SHOW(nc_put_var1_short(nc, v, start, shorts)); break;
        case 26: SHOW(nc_put_var1_float(nc, v, start, floats)); break;
        case 27: SHOW(nc_put_vars_int(nc, v, start, edge, stride, ints)); break;
        case 28: SHOW(nc_put_varm_int(nc, v, start, edge, stride, map, ints)); break;
        case 29: SHOW(nc_put_vara_schar(nc, v, start, edge, bytes)); break;
        case 30: SHOW(nc_put_vara_uchar(nc, v, start, edge, ubytes)); break;
        case 31: SHOW(nc_put_vara_longlong(nc, v, start, edge, longs)); break;
        case 32: SHOW(nc_put_vara_uint(nc, v, start, edge, uints)); break;
        case 33: SHOW(nc_set_fill(nc, pick(4) ? (pick(3) ? NC_FILL : NC_NOFILL) : 7, &old)); printf("%d\n", old); break;
        case 34: SHOW(nc_def_var_fill(nc, v, pick(3) == 0, pick(2) ? (void *)doubles : NULL)); break;
        case 35: SHOW(nc_inq_var_fill(nc, v, &old, NULL)); printf("%d\n", old); break;
        case 36: SHOW(nc_def_var_chunking(nc, v, pick(4), pick(3) ? start : NULL)); break;
        case 37: SHOW(nc_def_var_deflate(nc, v, pick(2), pick(2), (int)pick(12) - 1)); break;
        case 38: SHOW(nc_def_var_fletcher32(nc, v, pick(2))); break;
        case 39: SHOW(nc_def_var_endian(nc, v, pick(4))); break;
        case 40: { size_t c[8] = {0}; int s = -7; SHOW(nc_inq_var_chunking(nc, v, &s, c)); printf("%d %zu %zu\n", s, c[0], c[1]); break; }
        case 41: { int a = -7, b = -7, c = -7; SHOW(nc_inq_var_deflate(nc, v, &a, &b, &c)); printf("%d %d %d\n", a, b, c); break; }
        case 42: case 43: SHOW(nc_get_vara_int(nc, v, start, edge, out)); printf("%d %d %d %d\n", out[0], out[1], out[2], out[3]); break;
        case 44: SHOW(nc_get_vars_int(nc, v, start, edge, stride, out)); printf("%d %d %d %d\n", out[0], out[1], out[2], out[3]); break;
        case 45: SHOW(nc_get_var1_int(nc, v, start, out)); printf("%d\n", out[0]); break;
        case 46: { char s[65] = ""; SHOW(nc_get_vara_text(nc, v, start, edge, s)); printf("%.1s\n", s); break; }
        case 47: { int g = -7; SHOW(nc_def_grp(nc, n, &g)); printf("%d\n", g); break; }
        case 48: SHOW(nc_rename_grp(nc, n)); break;
        case 49: { int fmt = -7; SHOW(nc_inq_format(nc, &fmt)); printf("%d\n", fmt); break; }
        case 50: SHOW(nc_inq_attid(nc, v - 1, n, &id)); printf("%d\n", id); break;
        case 51: SHOW(nc_inq_varid(nc, n, &id)); printf("%d\n", id); break;
        case 52: SHOW(nc_inq_dimid(nc, n, &id)); printf("%d\n", id); break;
        case 53: { int old2 = -7; SHOW(nc_inq_unlimdim(nc, &old2)); printf("%d\n", old2); break; }
        case 54: if (pick(3)) contents(nc); break;
        case 55:
            if (pick(3)) break;
            SHOW(nc_close(*f));
            SHOW(nc_open(path, pick(3) ? NC_WRITE : 0, f));
            break;
        case 56: if (pick(12) == 0) { SHOW(nc_abort(*f)); SHOW(nc_open(path, NC_WRITE, f)); } break;
        case 57: SHOW(nc__enddef(nc, pick(2) ? 0 : 512, 4, 0, 4)); break;
        case 58: SHOW(nc_put_var1_double(nc, v, start, doubles)); break;
        case 59: SHOW(nc_get_vara_schar(nc, v, start, edge, bytes)); break;
        case 60: { double w = -7; SHOW(nc_get_var1_double(nc, v, start, &w)); printf("%g\n", w); break; }
        case 61: SHOW(nc_put_att_float(nc, v - 1, n, t, len, floats)); break;
        }
    }
    contents(*f);
    SHOW(nc_close(*f));
    return 0;
}
