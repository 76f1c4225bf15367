/* A program that forks while other threads end and make sessions: nothing waits for ever. */
#include <netcdf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int stop;
static char path[4096];

static void *open_on(void *unused) {
    int ncid;
    while (!atomic_load(&stop)) {
        if (nc_open(path, NC_NOWRITE, &ncid) == NC_NOERR) nc_close(ncid);
        nc_finalize();
    }
    return unused;
}

int main(int count, char **arguments) {
    int ncid, status, good = 0;
    pthread_t threads[3];
    if (count < 2) return 2;
    snprintf(path, sizeof path, "%s/forked.nc", arguments[1]);
    if (nc_create(path, NC_NETCDF4, &ncid) || nc_close(ncid)) return 1;
    for (int i = 0; i < 3; i++) pthread_create(threads + i, NULL, open_on, NULL);
    for (int number = 0; number < 200; number++) {
        pid_t id = fork();
        if (id == 0) _exit(nc_open(path, NC_NOWRITE, &ncid) || nc_close(ncid));
        good += id > 0 && waitpid(id, &status, 0) == id && status == 0;
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("good %d\n", good);
    return 0;
}
