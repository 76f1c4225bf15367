/* Calls beside a thread that writes to the same file: reads while it synchronizes, and children that close what it writes: FILE STEP. */
#include <netcdf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEN = 100, RECORDS = 1000, CHILDREN = 10 };

static int ncid, v, failed;
static atomic_int last, stop;

static void *synchronize(void *unused) {
    double values[LEN];
    for (int record = 0; record < RECORDS; record++) {
        const size_t start[2] = {(size_t)record, 0}, counts[2] = {1, LEN};
        for (int x = 0; x < LEN; x++) values[x] = record * 1000. + x;
        if (nc_put_vara_double(ncid, v, start, counts, values) || nc_sync(ncid)) failed++;
        atomic_store(&last, record + 1);
    }
    atomic_store(&stop, 1);
    return unused;
}

static void *put(void *unused) {
    static const double values[LEN];
    while (!atomic_load(&stop)) {
        for (size_t record = 0; record < 20; record++) {
            const size_t start[2] = {record, 0}, counts[2] = {1, LEN};
            if (nc_put_vara_double(ncid, v, start, counts, values)) return NULL;
        }
    }
    return unused;
}

static void read_beside(void) {
    int code = 0, reads = 0, wrong = 0;
    unsigned next = 1;
    while (!atomic_load(&stop)) {
        int count = atomic_load(&last);
        if (!count) continue;
        next = next * 1103515245 + 12345;
        const size_t at[2] = {(next >> 8) % (unsigned)count, 55};
        double value = -1;
        int answer = nc_get_var1_double(ncid, v, at, &value);
        if (answer) code = answer;
        if (value != (double)at[0] * 1000. + 55) wrong++;
        reads++;
    }
    printf("code %d, wrong %d, any %d, failed %d\n", code, wrong, reads > 0, failed);
}

static void close_beside(void) {
    int closed = 0;
    for (int number = 0; number < CHILDREN; number++) {
        int status = -1;
        usleep(3000);
        pid_t child = fork();
        if (child == 0) _exit(nc_close(ncid) != 0);
        waitpid(child, &status, 0);
        closed += status == 0;
    }
    atomic_store(&stop, 1);
    printf("closed %d\n", closed);
}

int main(int count, char **arguments) {
    int dims[2];
    pthread_t threads[3];
    if (count < 3) return 2;
    int synchronizes = !strcmp(arguments[2], "sync"), writers = synchronizes ? 1 : 3;
    if (nc_create(arguments[1], NC_NETCDF4, &ncid) || nc_def_dim(ncid, "t", NC_UNLIMITED, &dims[0])) return 1;
    if (nc_def_dim(ncid, "x", LEN, &dims[1]) || nc_def_var(ncid, "v", NC_DOUBLE, 2, dims, &v)) return 1;
    if (nc_def_var_deflate(ncid, v, 1, 1, 5) || nc_enddef(ncid) || nc_sync(ncid)) return 1;
    for (int number = 0; number < writers; number++) {
        if (pthread_create(&threads[number], NULL, synchronizes ? synchronize : put, NULL)) return 1;
    }
    if (synchronizes) read_beside();
    else close_beside();
    for (int number = 0; number < writers; number++) pthread_join(threads[number], NULL);
    printf("close %d\n", nc_close(ncid));
    return 0;
}
