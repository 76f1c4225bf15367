/* Files in memory of the program, which it takes back at once when they are closed: nothing reads it any more. FOLDER: makes files there. */
#include <fcntl.h>
#include <netcdf.h>
#include <netcdf_mem.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 60, WIDE = 32768, TIMES = 12, READ = 5 };

static const struct {
    const char *name;
    int mode, is_chunked, level;
} kinds[] = {
    {"deflated", NC_NETCDF4, 1, 1}, {"chunked", NC_NETCDF4, 1, 0}, {"contiguous", NC_NETCDF4, 0, 0}, {"classic", 0, 0, 0}, {"cdf5", NC_CDF5, 0, 0},
};

static float row[WIDE];

static int made(const char *path, int kind) {
    int n, dims[2], v, wrong = 0;
    size_t chunks[2] = {1, WIDE}, start[2] = {0, 0}, count[2] = {1, WIDE};
    if (nc_create(path, kinds[kind].mode, &n) || nc_def_dim(n, "t", ROWS, dims) || nc_def_dim(n, "x", WIDE, dims + 1)) return 1;
    if (nc_def_var(n, "v", NC_FLOAT, 2, dims, &v)) return 1;
    if (kinds[kind].is_chunked) wrong += nc_def_var_chunking(n, v, NC_CHUNKED, chunks);
    if (kinds[kind].level) wrong += nc_def_var_deflate(n, v, 0, 1, kinds[kind].level);
    wrong += nc_enddef(n);
    for (start[0] = 0; start[0] < ROWS; start[0]++) {
        for (int x = 0; x < WIDE; x++) row[x] = start[0] * 1000.0f + x * 7919 % 1013;
        wrong += nc_put_vara_float(n, v, start, count, row);
    }
    return wrong + nc_close(n);
}

static double first_rows(int n) {
    double sum = 0;
    size_t start[2] = {0, 0}, count[2] = {1, WIDE};
    for (; start[0] < READ; start[0]++) {
        if (nc_get_vara_float(n, 0, start, count, row)) return -1;
        for (int x = 0; x < WIDE; x++) sum += row[x];
    }
    return sum;
}

/* The bytes of a file in memory that is given back to the system, so that reading it ends the program. */
static void *mapped(const char *path, size_t *len) {
    struct stat state;
    int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &state)) return NULL;
    *len = state.st_size;
    void *memory = mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    close(file);
    return memory == MAP_FAILED ? NULL : memory;
}

/* The same bytes in a block of malloc. */
static void *copied(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    void *memory = file && !fseek(file, 0, SEEK_END) && (*len = ftell(file)) ? malloc(*len) : NULL;
    if (memory) rewind(file);
    if (memory && fread(memory, 1, *len, file) != *len) *len = 0;
    if (file) fclose(file);
    return memory;
}

static void read_and_taken_back(const char *path, const char *name) {
    for (int time = 0; time < TIMES; time++) {
        size_t len = 0;
        int n;
        void *memory = mapped(path, &len);
        int opened = nc_open_mem(path, 0, len, memory, &n);
        double sum = opened ? 0 : first_rows(n);
        int closed = opened ? 0 : nc_close(n);
        munmap(memory, len);
        usleep(1000);
        if (time % 4 == 0) printf("%s: %d %d %.0f\n", name, opened, closed, sum);
    }
}

/* Memory that becomes the library's, and is answered again. */
static void opened_for_changes(const char *path, const char *name) {
    for (int how = 0; how < 4; how++) {
        size_t len = 0, at[2] = {1, 2};
        const float value = -7;
        float first[WIDE];
        int n;
        NC_memio block = {0, NULL, 0}, out = {0, NULL, 0};
        block.memory = copied(path, &len);
        block.size = len;
        printf("%s, %d: open %d", name, how, nc_open_memio(path, NC_WRITE, &block, &n));
        if (how & 1) printf(", put %d", nc_put_var1_float(n, 0, at, &value));
        if (how & 2) {
            printf(", close %d\n", nc_close(n));
            continue;
        }
        printf(", close %d", nc_close_memio(n, &out));
        size_t start[2] = {1, 0}, count[2] = {1, WIDE};
        printf(", open %d", nc_open_mem(path, 0, out.size, out.memory, &n));
        printf(", get %d", nc_get_vara_float(n, 0, start, count, first));
        printf(": %.0f %.0f %.0f, close %d\n", first[1], first[2], first[3], nc_close(n));
        free(out.memory);
    }
}

int main(int count, char **arguments) {
    char path[4096];
    if (count < 2) return 2;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        snprintf(path, sizeof path, "%s/%s.nc", arguments[1], kinds[kind].name);
        printf("%s made: %d\n", kinds[kind].name, made(path, kind));
        read_and_taken_back(path, kinds[kind].name);
        opened_for_changes(path, kinds[kind].name);
    }
    return 0;
}
