/* Records of four variables, put in turn: how many writes the system was asked for. FOLDER RECORDS. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>

enum { VARIABLES = 4 };

static long writes(void) {
    char line[256];
    long count = -1;
    FILE *file = fopen("/proc/self/io", "r");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "syscw: %ld", &count);
    if (file) fclose(file);
    return count;
}

static int put_records(const char *path, int mode, size_t records) {
    static const nc_type types[VARIABLES] = {NC_DOUBLE, NC_FLOAT, NC_DOUBLE, NC_INT};
    int ncid, dim, ids[VARIABLES], wrong = nc_create(path, mode, &ncid) || nc_def_dim(ncid, "t", NC_UNLIMITED, &dim);
    for (int i = 0; i < VARIABLES && !wrong; i++) {
        char name[2] = {(char)('a' + i), 0};
        wrong = nc_def_var(ncid, name, types[i], 1, &dim, ids + i);
    }
    wrong = wrong || nc_enddef(ncid);
    for (size_t t = 0; t < records && !wrong; t++)
        for (int i = 0; i < VARIABLES && !wrong; i++) {
            double value = (double)t + i;
            wrong = nc_put_var1_double(ncid, ids[i], &t, &value);
        }
    return wrong || nc_close(ncid);
}

int main(int count, char **arguments) {
    if (count < 3) return 2;
    static const int modes[] = {NC_CLOBBER, NC_64BIT_DATA, NC_NETCDF4, NC_NETCDF4};
    for (int kind = 0; kind < 4; kind++) {
        char path[4096];
        snprintf(path, sizeof path, kind < 3 ? "%s/turns%d.nc" : "file://%s/turns%d.zarr#mode=nczarr,file", arguments[1], kind);
        long before = writes();
        int wrong = put_records(path, modes[kind], strtoul(arguments[2], NULL, 10));
        printf("%d: %ld %s\n", kind, writes() - before, wrong ? "failed" : "");
    }
    return 0;
}
