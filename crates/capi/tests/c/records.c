/* Records of all variables at once, through the interface of version 2. */
#include <netcdf.h>
#include <stdio.h>
#include <string.h>
#define SHOW(call) printf("%s = %d, %d\n", #call, (call), ncerr)
int main(int c, char **a) {
    char path[999];
    int n, d[3], v[5], nr = -7, ids[9];
    long sz[9];
    char unused[99] = "";
    void *dp[9];
    for (int i = 0; i < 9; i++) dp[i] = unused;
    int modes[] = {0, NC_NETCDF4};
    ncopts = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int m = 0; m < 2; m++) {
        snprintf(path, 999, "%s/rec%d.nc", a[1], m);
        nc_create(path, modes[m] | NC_CLOBBER, &n);
        nc_def_dim(n, "t", NC_UNLIMITED, d);
        nc_def_dim(n, "x", 3, d + 1);
        nc_def_dim(n, "y", 2, d + 2);
        int d2[] = {d[0], d[1], d[2]}, d3[] = {d[1], d[0]};
        nc_def_var(n, "a", NC_INT, 2, d2, v);
        nc_def_var(n, "f", NC_FLOAT, 1, d + 1, v + 1);
        nc_def_var(n, "b", NC_CHAR, 3, d2, v + 2);
        nc_def_var(n, "s", NC_DOUBLE, 0, NULL, v + 3);
        nc_def_var(n, "z", NC_SHORT, 1, d, v + 4);
        int x = -1;
        if (m) printf("%d\n", nc_def_var(n, "w", NC_SHORT, 2, d3, &x));
        SHOW(ncrecput(n, 0, dp));
        nc_enddef(n);
        SHOW(ncrecinq(n, &nr, ids, sz));
        printf("%d:", nr);
        for (int i = 0; i < nr; i++) printf(" %d/%ld", ids[i], sz[i]);
        puts("");
        SHOW(ncrecinq(n, NULL, ids, sz));
        SHOW(ncrecinq(n, &nr, NULL, sz));
        SHOW(ncrecinq(n, &nr, ids, NULL));
        SHOW(ncrecinq(77, &nr, ids, sz));
        int ai[3] = {1, 2, 3};
        char ch[7] = "abcdef";
        short z = 9, w[3] = {4, 5, 6};
        dp[0] = ai;
        dp[1] = ch;
        dp[2] = &z;
        dp[3] = w;
        SHOW(ncrecput(n, 1, dp));
        dp[0] = NULL;
        SHOW(ncrecput(n, 2, dp));
        dp[0] = ai;
        if (m == 0) SHOW(ncrecput(n, -1, dp));
        SHOW(ncrecput(77, 0, dp));
        size_t l;
        nc_inq_dimlen(n, d[0], &l);
        printf("%zu\n", l);
        memset(ai, 0, 12);
        memset(ch, 0, 6);
        z = 0;
        SHOW(ncrecget(n, 1, dp));
        printf("%d %d %d %s %d\n", ai[0], ai[1], ai[2], ch, z);
        SHOW(ncrecget(n, 2, dp));
        printf("%d %d %d %s %d\n", ai[0], ai[1], ai[2], ch, z);
        SHOW(ncrecget(n, 0, dp));
        SHOW(ncrecget(n, 5, dp));
        SHOW(ncrecget(n, -1, dp));
        SHOW(ncrecget(77, 0, dp));
        dp[0] = dp[1] = dp[2] = dp[3] = 0;
        SHOW(ncrecget(n, 0, dp));
        SHOW(ncrecget(n, 9, dp));
        SHOW(ncclose(n));
        snprintf(path, 999, "%s/norec%d.nc", a[1], m);
        nc_create(path, modes[m] | NC_CLOBBER, &n);
        nc_def_dim(n, "x", 3, d + 1);
        nc_def_var(n, "f", NC_FLOAT, 1, d + 1, v + 1);
        nc_enddef(n);
        SHOW(ncrecinq(n, &nr, ids, sz));
        printf("%d\n", nr);
        SHOW(ncrecget(n, 0, dp));
        SHOW(ncrecput(n, 0, dp));
        nc_close(n);
        snprintf(path, 999, "%s/norecv%d.nc", a[1], m);
        nc_create(path, modes[m] | NC_CLOBBER, &n);
        nc_def_dim(n, "x", NC_UNLIMITED, d + 1);
        nc_enddef(n);
        SHOW(ncrecinq(n, &nr, ids, sz));
        printf("%d\n", nr);
        SHOW(ncrecget(n, 0, dp));
        SHOW(ncrecput(n, 0, dp));
        nc_close(n);
        snprintf(path, 999, "%s/rec%d.nc", a[1], m);
        nc_open(path, 0, &n);
        SHOW(ncrecput(n, 1, dp));
        dp[0] = ai;
        SHOW(ncrecput(n, 1, dp));
        nc_close(n);
    }
    return 0;
}
