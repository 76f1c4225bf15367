/* Processes that open one directory at the same time, and append a record, an attribute or a part of a chunk: ROUNDS. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITERS = 4, PART = 5, LEN = WRITERS * PART };

static int create(const char *path) {
    int ncid, time, n, v, p, code = 0;
    const size_t chunk = LEN;
    code = code || nc_create(path, NC_NETCDF4, &ncid);
    code = code || nc_def_dim(ncid, "time", NC_UNLIMITED, &time) || nc_def_dim(ncid, "n", LEN, &n);
    code = code || nc_def_var(ncid, "v", NC_INT, 1, &time, &v) || nc_def_var(ncid, "p", NC_INT, 1, &n, &p);
    code = code || nc_def_var_chunking(ncid, p, NC_CHUNKED, &chunk) || nc_enddef(ncid);
    return code || nc_close(ncid);
}

/* 0 if the change is kept. */
static int change(const char *path, int way, int number) {
    int ncid, id, code, values[PART];
    size_t len = 0, start = 0, count = PART;
    char name[20];
    if ((code = nc_open(path, NC_WRITE, &ncid))) return code;
    for (int at = 0; at < PART; at++) values[at] = number;
    if (way == 0) {
        code = nc_inq_dimlen(ncid, 0, &len);
        if (!code) code = nc_inq_varid(ncid, "v", &id);
        count = 1;
        if (!code) code = nc_put_vara_int(ncid, id, &len, &count, values);
    } else if (way == 1) {
        snprintf(name, sizeof name, "a%d", number);
        code = nc_put_att_int(ncid, NC_GLOBAL, name, NC_INT, 1, values);
    } else {
        start = (size_t)number * PART;
        code = nc_inq_varid(ncid, "p", &id);
        if (!code) code = nc_put_vara_int(ncid, id, &start, &count, values);
    }
    int closed = nc_close(ncid);
    return code ? code : closed;
}

/* Which changes are in the dataset, as bits; -1 if one is there in part. */
static int there(const char *path, int way) {
    int ncid, id, found = 0, values[LEN];
    size_t len = 0;
    if (nc_open(path, NC_NOWRITE, &ncid)) return -1;
    if (way == 0) {
        nc_inq_dimlen(ncid, 0, &len);
        nc_inq_varid(ncid, "v", &id);
        if (len > LEN || nc_get_var_int(ncid, id, values)) found = -1;
        for (size_t at = 0; found >= 0 && at < len; at++) {
            int is_one = values[at] >= 0 && values[at] < WRITERS && !(found >> values[at] & 1);
            found = is_one ? found | 1 << values[at] : -1;
        }
    } else if (way == 1) {
        for (int number = 0; number < WRITERS; number++) {
            char name[20];
            snprintf(name, sizeof name, "a%d", number);
            if (!nc_inq_attid(ncid, NC_GLOBAL, name, &id)) found |= 1 << number;
        }
    } else {
        nc_inq_varid(ncid, "p", &id);
        if (nc_get_var_int(ncid, id, values)) found = -1;
        for (int number = 0; found >= 0 && number < WRITERS; number++) {
            int hits = 0;
            for (int at = 0; at < PART; at++) hits += values[number * PART + at] == number;
            if (hits && hits < PART) found = -1;
            else if (hits) found |= 1 << number;
        }
    }
    nc_close(ncid);
    return found;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 6, lost = 0, all_failed = 0, broken = 0;
    for (int round = 0; round < rounds; round++) {
        for (int way = 0; way < 3; way++) {
            char path[100];
            pid_t children[WRITERS];
            int gate[2], kept = 0;
            snprintf(path, sizeof path, "file://r%d_%d.zarr#mode=nczarr,file", round, way);
            /* In a process of its own, so that no child has threads of its parent. */
            pid_t maker = fork();
            if (maker == 0) _exit(create(path) != 0);
            int status = -1;
            waitpid(maker, &status, 0);
            if (status || pipe(gate)) return 1;
            for (int number = 0; number < WRITERS; number++) {
                children[number] = fork();
                if (children[number]) continue;
                char byte;
                close(gate[1]);
                if (read(gate[0], &byte, 1) < 0) _exit(2);
                _exit(change(path, way, number) != 0);
            }
            close(gate[0]);
            close(gate[1]);
            for (int number = 0; number < WRITERS; number++) {
                waitpid(children[number], &status, 0);
                if (status == 0) kept |= 1 << number;
                else if (!WIFEXITED(status) || WEXITSTATUS(status) != 1) broken++;
            }
            pid_t looker = fork();
            if (looker == 0) {
                int found = there(path, way);
                _exit(found < 0 ? 99 : found);
            }
            waitpid(looker, &status, 0);
            if (WEXITSTATUS(status) != kept) {
                printf("round %d way %d: kept %d, found %d\n", round, way, kept, WEXITSTATUS(status));
                lost++;
            }
            if (!kept) all_failed++;
        }
    }
    printf("lost %d, all failed %d, broken %d\n", lost, all_failed, broken);
    return 0;
}
