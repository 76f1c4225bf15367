/* A program that forks while threads read: the child reads what was open, opens and writes files of its own, and cannot change
   the parent's; the parent goes on. */
#include <netcdf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEN = 3000 };

static int reader, writer;
static atomic_int stop, wrong;

static int sum_of(int ncid, long *sum) {
    static _Thread_local int values[LEN];
    int code = nc_get_var_int(ncid, 0, values);
    *sum = 0;
    for (int i = 0; i < LEN; i++) *sum += values[i];
    return code;
}

static int make(const char *folder, const char *name, int close, int *ncid) {
    char path[4096];
    int dim, id, values[LEN];
    size_t chunk = 100;
    for (int i = 0; i < LEN; i++) values[i] = i;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int code = nc_create(path, NC_NETCDF4, ncid);
    if (!code) code = nc_def_dim(*ncid, "x", LEN, &dim);
    if (!code) code = nc_def_var(*ncid, "v", NC_INT, 1, &dim, &id);
    if (!code) code = nc_def_var_chunking(*ncid, id, NC_CHUNKED, &chunk);
    if (!code) code = nc_def_var_deflate(*ncid, id, 1, 1, 1);
    if (!code) code = nc_put_var_int(*ncid, id, values);
    if (!code && close) code = nc_close(*ncid);
    return code;
}

static void *read_on(void *unused) {
    long sum;
    while (!atomic_load(&stop)) {
        if (sum_of(reader, &sum) || sum != LEN * (LEN - 1L) / 2) atomic_fetch_add(&wrong, 1);
    }
    return unused;
}

static void child(const char *folder, int number) {
    char name[32];
    long sum = -1, again = -1;
    int own = -1, one = 5, code = sum_of(reader, &sum);
    size_t at = 0;
    snprintf(name, sizeof name, "child%d.nc", number);
    int put = nc_put_var1_int(writer, 0, &at, &one);
    int made = make(folder, name, 1, &own);
    int closed = nc_close(writer);
    int same = sum_of(reader, &again);
    printf("child: read %d %ld, put %d, make %d, close %d, read %d %ld, close %d\n", code, sum, put, made, closed, same, again,
           nc_close(reader));
    fflush(stdout);
}

int main(int count, char **arguments) {
    pthread_t threads[4];
    char path[4096];
    int status, ended = 0;
    long sum;
    if (count < 2) return 2;
    if (make(arguments[1], "read.nc", 1, &reader) || make(arguments[1], "written.nc", 0, &writer)) return 1;
    snprintf(path, sizeof path, "%s/read.nc", arguments[1]);
    if (nc_open(path, NC_NOWRITE, &reader)) return 1;
    for (int i = 0; i < 4; i++) pthread_create(threads + i, NULL, read_on, NULL);
    for (int number = 0; number < 20; number++) {
        pid_t id = fork();
        if (id == 0) {
            child(arguments[1], number);
            return 0;
        }
        if (id < 0 || waitpid(id, &status, 0) != id) return 1;
        ended += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    int closed = nc_close(writer);
    snprintf(path, sizeof path, "%s/written.nc", arguments[1]);
    if (nc_open(path, NC_NOWRITE, &writer)) return 1;
    int code = sum_of(writer, &sum);
    printf("parent: children %d, wrong %d, close %d, read %d %ld\n", ended, atomic_load(&wrong), closed, code, sum);
    return nc_close(reader) || nc_close(writer);
}
