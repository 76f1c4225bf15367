/* Definitions and values that sequences of calls found to go wrong: text with fewer records than its dimension, fill values that are
   renamed, calls without elements on shared files, the classic model with records along a later axis, chunks left to the library. */
#include <netcdf.h>
#include <stdio.h>
#include <unistd.h>

#define SHOW(call) printf("%s = %d\n", #call, call)

static void text_with_fewer_records(void) {
    int n, dims[2], text, numbers;
    size_t first[2] = {0, 1}, fifth = 4, second[2] = {1, 0}, one = 1, all[2] = {5, 2};
    const char *hello = "hello";
    char *read[10];
    short four = 4;
    SHOW(nc_create("text.nc", NC_NETCDF4, &n));
    SHOW(nc_def_dim(n, "t", NC_UNLIMITED, dims));
    SHOW(nc_def_dim(n, "x", 2, dims + 1));
    SHOW(nc_def_var(n, "text", NC_STRING, 2, dims, &text));
    SHOW(nc_def_var(n, "numbers", NC_INT64, 1, dims, &numbers));
    SHOW(nc_put_var1_string(n, text, first, &hello));
    SHOW(nc_put_vara_short(n, numbers, &fifth, &one, &four));
    SHOW(nc_close(n));
    SHOW(nc_open("text.nc", NC_WRITE, &n));
    SHOW(nc_get_vara_string(n, text, (size_t[2]){0, 0}, all, read));
    for (int i = 0; i < 10; i++) printf("%d %s\n", i, read[i]);
    nc_free_string(10, read);
    SHOW(nc_put_var1_string(n, text, second, &hello));
    SHOW(nc_close(n));
}

static void renamed_fill_values(void) {
    int n, dim, v, w, plain;
    signed char seven = 7;
    SHOW(nc_create("fill.nc", 0, &n));
    SHOW(nc_def_dim(n, "x", 3, &dim));
    SHOW(nc_def_var(n, "was", NC_BYTE, 1, &dim, &v));
    SHOW(nc_def_var(n, "becomes", NC_BYTE, 1, &dim, &w));
    SHOW(nc_def_var_fill(n, v, 0, &seven));
    SHOW(nc_rename_att(n, v, "_FillValue", "units"));
    SHOW(nc_put_att_schar(n, w, "units", NC_BYTE, 1, &seven));
    SHOW(nc_rename_att(n, w, "units", "_FillValue"));
    SHOW(nc_inq_var_fill(n, v, &plain, &seven)), printf("%d %d\n", plain, seven);
    SHOW(nc_inq_var_fill(n, w, &plain, &seven)), printf("%d %d\n", plain, seven);
    SHOW(nc_close(n));
}

static void shared_without_elements(void) {
    int n, dims[2], v, w;
    size_t none = 0;
    ptrdiff_t step = 1;
    short s = 1;
    SHOW(nc_create("shared.nc", NC_SHARE, &n));
    SHOW(nc_def_dim(n, "t", NC_UNLIMITED, dims));
    SHOW(nc_def_dim(n, "x", 2, dims + 1));
    SHOW(nc_def_var(n, "a", NC_DOUBLE, 1, dims, &v));
    SHOW(nc_def_var(n, "b", NC_CHAR, 1, dims + 1, &w));
    SHOW(nc_put_varm_short(n, v, &none, &none, &step, &step, &s));
    SHOW(nc_put_vara_short(n, v, &none, &none, &s));
    SHOW(nc_def_var_fill(n, w, 0, "h"));
    SHOW(nc_enddef(n));
    SHOW(nc_put_vars_short(n, v, &none, &none, (ptrdiff_t[]){2}, &s));
    SHOW(nc_close(n));
}

static void records_along_a_later_axis(void) {
    int n, dims[2], v;
    size_t start[2] = {1, 2}, one[2] = {1, 1};
    short s = 5;
    SHOW(nc_create("later.nc", NC_NETCDF4 | NC_CLASSIC_MODEL, &n));
    SHOW(nc_def_dim(n, "x", 2, dims));
    SHOW(nc_def_dim(n, "t", NC_UNLIMITED, dims + 1));
    SHOW(nc_def_var(n, "a", NC_SHORT, 2, dims, &v));
    SHOW(nc_def_var_chunking(n, v, NC_CHUNKED, (size_t[]){0, 0}));
    SHOW(nc_enddef(n));
    SHOW(nc_put_vara_short(n, v, start, one, &s));
    SHOW(nc_close(n));
}

int main(int count, char **arguments) {
    if (count > 1 && chdir(arguments[1])) return 2;
    text_with_fewer_records();
    renamed_fill_values();
    shared_without_elements();
    records_along_a_later_axis();
    return 0;
}
