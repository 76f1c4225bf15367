/* Null pointers, counts and ranks that nothing has: each call answers with a code. Debian's library ends the program at many of them. */
#include <limits.h>
#include <netcdf.h>
#include <netcdf_aux.h>
#include <netcdf_filter.h>
#include <netcdf_mem.h>
#include <stdint.h>
#include <stdio.h>

#define SHOW(call) printf("%s = %d\n", #call, (call))

int main(int count, char **arguments) {
    const int modes[] = {0, NC_NETCDF4};
    char path[4096];
    if (count < 2) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int kind = 0; kind < 2; kind++) {
        int n = -1, d = 0, v = 0;
        snprintf(path, sizeof path, "%s/nulls.nc", arguments[1]);
        SHOW(nc_create(NULL, modes[kind], &n));
        SHOW(nc_create(path, modes[kind], &n));
        SHOW(nc_def_dim(n, NULL, 3, &d));
        SHOW(nc_def_dim(n, "x", 3, NULL));
        SHOW(nc_def_var(n, NULL, 4, 1, &d, &v));
        SHOW(nc_def_var(n, "v", 4, 1, &d, NULL));
        SHOW(nc_def_var(n, "huge", 4, INT_MAX, &d, &v));
        SHOW(nc_def_var(n, "neg", 4, INT_MIN, &d, &v));
        SHOW(nc_put_att_int(n, -1, NULL, 4, 1, &d));
        SHOW(nc_put_att_int(n, -1, "a", 4, 1, NULL));
        SHOW(nc_put_att_int(n, -1, "a", 4, 0, NULL));
        SHOW(nc_put_att_int(n, -1, "a", 4, (size_t)-1, &d));
        SHOW(nc_put_att_text(n, -1, "t", 3, NULL));
        SHOW(nc_put_att_string(n, -1, "s", 1, NULL));
        SHOW(nc_rename_att(n, -1, NULL, "b"));
        SHOW(nc_rename_att(n, -1, "a", NULL));
        SHOW(nc_del_att(n, -1, NULL));
        SHOW(nc_copy_att(n, -1, NULL, n, 0));
        SHOW(nc_rename_dim(n, 0, NULL));
        SHOW(nc_rename_var(n, 0, NULL));
        SHOW(nc_def_grp(n, NULL, &d));
        SHOW(nc_def_grp(n, "g", NULL));
        SHOW(nc_rename_grp(n, NULL));
        SHOW(nc_def_compound(n, 8, NULL, &d));
        SHOW(nc_def_compound(n, 8, "c", NULL));
        SHOW(nc_insert_compound(n, 32, NULL, 0, 4));
        SHOW(nc_insert_array_compound(n, 32, "f", 0, 4, 2, NULL));
        SHOW(nc_def_enum(n, 4, "e", &d));
        SHOW(nc_insert_enum(n, d, "q", NULL));
        SHOW(nc_def_vlen(n, NULL, 4, &d));
        SHOW(nc_def_opaque(n, 4, NULL, &d));
        SHOW(nc_def_var_fill(n, 0, 0, NULL));
        SHOW(nc_def_var_chunking(n, 0, 0, NULL));
        SHOW(nc_def_var_filter(n, 0, 1, 1, NULL));
        SHOW(nc_set_fill(n, 0, NULL));
        SHOW(nc_def_var_szip(n, 0, 32, 8));
        SHOW(nc_def_var_bzip2(n, 0, 99));
        SHOW(nc_set_chunk_cache(1, 1, 7));
        SHOW(nc_set_default_format(99, NULL));
        nc_enddef(n);
        SHOW(nc_put_var_int(n, 0, NULL));
        SHOW(nc_put_vara_int(n, 0, NULL, NULL, NULL));
        SHOW(nc_put_var1_int(n, 0, NULL, NULL));
        SHOW(nc_put_vars_int(n, 0, NULL, NULL, NULL, NULL));
        SHOW(nc_put_varm_int(n, 0, NULL, NULL, NULL, NULL, NULL));
        size_t s[1] = {0}, e[1] = {(size_t)-1};
        int x[9] = {0};
        SHOW(nc_put_vara_int(n, 0, s, e, x));
        s[0] = (size_t)-1;
        SHOW(nc_put_vara_int(n, 0, s, e, x));
        ptrdiff_t st[1] = {PTRDIFF_MAX};
        s[0] = 0;
        e[0] = 2;
        SHOW(nc_put_vars_int(n, 0, s, e, st, x));
        st[0] = PTRDIFF_MIN;
        SHOW(nc_put_vars_int(n, 0, s, e, st, x));
        ptrdiff_t mp[1] = {PTRDIFF_MIN};
        st[0] = 1;
        SHOW(nc_put_varm_int(n, 0, s, e, st, mp, x+4));
        SHOW(nc_put_vlen_element(n, 32, NULL, 1, x));
        SHOW(nc_inq_type_equal(n, 4, n, 4, NULL));
        SHOW(nc_copy_var(n, 9, n));
        SHOW(nc_copy_data_all(n, 4, NULL, 1, NULL));
        SHOW(nc_open_mem("m", 0, 9, NULL, &d));
        SHOW(nc_open_memio("m", 0, NULL, &d));
        SHOW(nc_close_memio(n, NULL));
        SHOW(ncaux_h5filterspec_parse(NULL, NULL, NULL, NULL));
        SHOW(ncaux_h5filterspec_parselist("1, 2|x", NULL, NULL, NULL));
        ncaux_h5filterspec_free(NULL);
        SHOW(ncaux_end_compound(NULL, NULL));
        SHOW(ncaux_readfile(NULL, NULL, NULL));
        SHOW(nc_delete(NULL));
        SHOW(nc_sync(n));
        SHOW(nc_close(n));
        // With types that have no members it is still open.
        nc_abort(n);
        SHOW(nc_sync(n));
        SHOW(nc_redef(n));
        SHOW(nc_abort(n));
    }
    printf("done\n");
    return 0;
}
