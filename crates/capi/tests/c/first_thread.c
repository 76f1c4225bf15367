/* A program whose first thread ends, by pthread_exit, before the one that writes: FILE, and whether that one closes the file. */
#include <netcdf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ncid, v, closes;

static void *second(void *unused) {
    const int values[3] = {4, 5, 6};
    (void)unused;
    usleep(200000);
    printf("put %d\n", nc_put_var_int(ncid, v, values));
    printf("sync %d\n", nc_sync(ncid));
    if (closes) printf("close %d\n", nc_close(ncid));
    fflush(stdout);
    return NULL;
}

int main(int count, char **arguments) {
    int x;
    pthread_t thread;
    if (count < 3) return 2;
    closes = !strcmp(arguments[2], "closes");
    if (nc_create(arguments[1], NC_NETCDF4, &ncid) || nc_def_dim(ncid, "x", 3, &x)) return 1;
    if (nc_def_var(ncid, "v", NC_INT, 1, &x, &v) || nc_enddef(ncid)) return 1;
    if (pthread_create(&thread, NULL, second, NULL)) return 1;
    pthread_exit(NULL);
}
