/* The interface of version 2: what each call returns, and `ncerr`. */
#include <netcdf.h>
#include <stdio.h>
#include <string.h>

#define SHOW(call) printf("%s = %d, %d\n", #call, (call), ncerr)

int main(int count, char **arguments) {
    char path[4096], name[NC_MAX_NAME + 1] = "";
    int ncid, dims[2], id, type = -7, rank = -7, list[4] = {0}, natts = -7, len = -7, ints[12] = {1, 2, 3, 4, 5, 6}, out[12] = {0};
    long start[2] = {0, 0}, counts[2] = {2, 3}, stride[2] = {1, 2}, map[2] = {4, 8}, size = 0;
    if (count < 2) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    ncopts = 0;
    SHOW(ncopen("not-there.nc", NC_NOWRITE));
    snprintf(path, sizeof path, "%s/2.nc", arguments[1]);
    ncid = nccreate(path, NC_CLOBBER);
    SHOW(dims[0] = ncdimdef(ncid, "t", NC_UNLIMITED));
    SHOW(dims[1] = ncdimdef(ncid, "x", 3));
    SHOW(ncdimdef(ncid, "x", 3));
    SHOW(id = ncvardef(ncid, "v", NC_INT, 2, dims));
    SHOW(ncvardef(ncid, "v", NC_INT, 2, dims));
    SHOW(ncattput(ncid, id, "a", NC_INT, 3, ints));
    SHOW(ncattput(ncid, NC_GLOBAL, "title", NC_CHAR, 5, "hello"));
    SHOW(ncattcopy(ncid, NC_GLOBAL, "title", ncid, id));
    SHOW(ncattrename(ncid, id, "title", "name"));
    SHOW(ncattdel(ncid, id, "none"));
    SHOW(ncsetfill(ncid, NC_NOFILL));
    SHOW(ncsetfill(ncid, NC_FILL));
    SHOW(ncvarput(ncid, id, start, counts, ints));
    SHOW(ncendef(ncid));
    SHOW(ncendef(ncid));
    SHOW(ncvarput(ncid, id, start, counts, ints));
    start[0] = 3;
    SHOW(ncvarput1(ncid, id, start, ints));
    start[0] = 0;
    counts[1] = 2;
    SHOW(ncvarputs(ncid, id, start, counts, stride, ints));
    SHOW(ncvarputg(ncid, id, start, counts, stride, map, ints));
    SHOW(ncvargets(ncid, id, start, counts, stride, out));
    SHOW(ncvargetg(ncid, id, start, counts, stride, map, out));
    for (int i = 0; i < 6; i++) printf("%d ", out[i]);
    SHOW(ncvarget1(ncid, id, start, out));
    start[1] = 7;
    SHOW(ncvarget(ncid, id, start, counts, out));
    SHOW(ncdimid(ncid, "x"));
    SHOW(ncdimid(ncid, "none"));
    SHOW(ncdiminq(ncid, 0, name, &size));
    printf("%s %ld\n", name, size);
    SHOW(ncvarid(ncid, "v"));
    SHOW(ncvarinq(ncid, id, name, &type, &rank, list, &natts));
    printf("%s %d %d %d %d\n", name, type, rank, list[1], natts);
    SHOW(ncattinq(ncid, id, "a", &type, &len));
    printf("%d %d\n", type, len);
    SHOW(ncattget(ncid, id, "a", out));
    SHOW(ncattname(ncid, id, 1, name));
    printf("%s\n", name);
    SHOW(ncredef(ncid));
    SHOW(ncdimrename(ncid, 1, "y"));
    SHOW(ncvarrename(ncid, id, "w"));
    SHOW(ncinquire(ncid, &rank, &len, &natts, &type) == ncid);
    printf("%d %d %d %d\n", rank, len, natts, type);
    SHOW(ncclose(ncid));
    SHOW(ncclose(ncid));
    SHOW(nctypelen(NC_DOUBLE));
    SHOW(nctypelen(99));
    return 0;
}
