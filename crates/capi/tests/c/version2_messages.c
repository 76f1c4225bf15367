/* What functions of version 2 say on standard error when they fail: FOLDER. */
#include <netcdf.h>
#include <stdio.h>

#define NOBODY 77

static int number, other, dims[3];
static long place[3];
static char name[NC_MAX_NAME + 1];
static nc_type type;
static double value;
static void *memory[9];

/* Every function, with the number of no file. */
static void closed(void) {
    ncopen("none.nc", 0);
    nccreate("/nowhere/x.nc", 0);
    ncredef(NOBODY);
    ncendef(NOBODY);
    ncclose(NOBODY);
    ncinquire(NOBODY, &number, &number, &number, &number);
    ncsync(NOBODY);
    ncabort(NOBODY);
    ncdimdef(NOBODY, "d", 3);
    ncdimdef(NOBODY, "negative", -4);
    ncdimid(NOBODY, "d");
    ncdiminq(NOBODY, 5, name, place);
    ncdimrename(NOBODY, 5, "e");
    ncvardef(NOBODY, "v", NC_INT, 1, dims);
    ncvarid(NOBODY, "v");
    ncvarinq(NOBODY, 6, name, &type, &number, dims, &other);
    ncvarput1(NOBODY, 6, place, &value);
    ncvarput(NOBODY, 6, place, place, &value);
    ncvarget(NOBODY, 6, place, place, &value);
    ncvarputs(NOBODY, 6, place, place, place, &value);
    ncvargets(NOBODY, 6, place, place, place, &value);
    ncvarrename(NOBODY, 6, "w");
    ncattput(NOBODY, 6, "a", NC_INT, 1, &value);
    ncattinq(NOBODY, 6, "a", &type, &number);
    ncattget(NOBODY, 6, "a", &value);
    ncattcopy(NOBODY, 6, "a", 78, 7);
    ncattname(NOBODY, 6, 3, name);
    ncattrename(NOBODY, 6, "a", "b");
    ncattdel(NOBODY, 6, "a");
    ncsetfill(NOBODY, NC_FILL);
    ncrecinq(NOBODY, &number, dims, place);
    ncrecget(NOBODY, 1, memory);
    ncrecput(NOBODY, 1, memory);
}

static void wrong(const char *path) {
    int file = nccreate(path, NC_CLOBBER);
    ncdimdef(file, "x", 3);
    ncdimdef(file, "x", 3);
    ncdimdef(file, "y", -3);
    ncvardef(file, "v", NC_INT, 1, dims);
    ncvardef(file, "v", NC_INT, 1, dims);
    ncvarid(file, "none");
    ncdimid(file, "none");
    ncattinq(file, 0, "none", &type, &number);
    ncattinq(file, NC_GLOBAL, "none", &type, &number);
    ncattname(file, NC_GLOBAL, 3, name);
    ncendef(file);
    place[0] = 7;
    ncvarput1(file, 0, place, &value);
    ncclose(file);
}

int main(int count, char **arguments) {
    char path[4096];
    if (count < 2) return 2;
    snprintf(path, sizeof path, "%s/version2.nc", arguments[1]);
    ncopts = NC_VERBOSE;
    closed();
    wrong(path);
    nc_advise("mine", 0, "plain");
    return 0;
}
