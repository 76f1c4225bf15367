/* Memory that stays the program's, and a file in it. */
#include <netcdf.h>
#include <netcdf_mem.h>
#include <stdio.h>
#include <string.h>

#define SHOW(call) printf("%s = %d\n", #call, (call))

static char memory[16384];

/* Makes a file and reads it into the memory. */
static size_t filled(const char *path, int mode) {
    const int values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const size_t start = 0, count = 8;
    int n, t, v;
    nc_create(path, mode, &n);
    nc_def_dim(n, "t", NC_UNLIMITED, &t);
    nc_def_var(n, "v", NC_INT, 1, &t, &v);
    nc_enddef(n);
    nc_put_vara_int(n, v, &start, &count, values);
    nc_close(n);
    memset(memory, 0, sizeof memory);
    FILE *file = fopen(path, "rb");
    size_t len = file ? fread(memory, 1, sizeof memory, file) : 0;
    if (file) fclose(file);
    return len;
}
