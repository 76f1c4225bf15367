/* Opens and closes FILE.. COUNT times in turn, and creates one in FOLDER now and then: prints how many bytes of memory and how many
   handles there are more at the end. */
#include <dirent.h>
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long memory(void) {
    long size, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2) exit(3);
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

static long handles(void) {
    long many = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder)) many++;
    closedir(folder);
    return many;
}

static int once(const char *path) {
    int ncid, id, vars, value;
    size_t start[NC_MAX_VAR_DIMS] = {0};
    if (nc_open(path, NC_NOWRITE, &ncid) || nc_inq_nvars(ncid, &vars)) return 1;
    if (nc_inq_varid(ncid, "v", &id) || nc_get_var1_int(ncid, id, start, &value)) return 1;
    return nc_close(ncid);
}

static int created(const char *folder) {
    char path[4096];
    int ncid, dim, id, values[3] = {1, 2, 3};
    snprintf(path, sizeof path, "%s/new.nc", folder);
    if (nc_create(path, NC_NETCDF4 | NC_CLOBBER, &ncid) || nc_def_dim(ncid, "x", 3, &dim)) return 1;
    if (nc_def_var(ncid, "v", NC_INT, 1, &dim, &id) || nc_put_var_int(ncid, id, values)) return 1;
    return nc_close(ncid);
}

int main(int count, char **arguments) {
    if (count < 4) return 2;
    long many = atol(arguments[2]), warm = many / 10 < 5000 ? many / 10 : 5000, before = 0, open_before = 0;
    for (long i = 0; i < many; i++) {
        if (i == warm) before = memory(), open_before = handles();
        if (once(arguments[3 + i % (count - 3)])) return 1;
        if (i % 100 == 0 && created(arguments[1])) return 1;
    }
    long more = memory() - before;
    fprintf(stderr, "%ld bytes more after %ld opens\n", more, many);
    printf("handles: %ld, memory: %s\n", handles() - open_before, more < (4 << 20) ? "as before" : "more");
    return 0;
}
