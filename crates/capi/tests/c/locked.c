/* Files in memory that stays the program's: what is changed is in it when they are closed. */
#include "locked_memory.h"

static void values(const char *path, size_t len) {
    int n, x[32] = {0};
    size_t count = 0;
    SHOW(nc_open_mem(path, 0, len, memory, &n));
    nc_inq_dimlen(n, 0, &count);
    printf("%zu values, %d:", count, nc_get_var_int(n, 0, x));
    for (size_t i = 0; i < count && i < 32; i++) printf(" %d", x[i]);
    printf("\n");
    SHOW(nc_close(n));
}

int main(int count, char **arguments) {
    const int modes[] = {0, NC_64BIT_OFFSET, NC_CDF5};
    char path[4096];
    if (count < 2) return 2;
    for (int kind = 0; kind < 3; kind++) {
        for (int how = 0; how < 4; how++) {
            const int y = 77;
            int n;
            size_t at = 2;
            snprintf(path, sizeof path, "%s/locked.nc", arguments[1]);
            size_t len = filled(path, modes[kind]), room = how & 1 ? 8192 : 0;
            NC_memio block = {len + room, memory, NC_MEMIO_LOCKED}, out = {0, NULL, 0};
            SHOW(nc_open_memio(path, NC_WRITE, &block, &n));
            SHOW(nc_put_var1_int(n, 0, &at, &y));
            at = 10;
            if (room) SHOW(nc_put_var1_int(n, 0, &at, &y));
            SHOW(nc_sync(n));
            if (how & 2) {
                SHOW(nc_close(n));
            } else {
                SHOW(nc_close_memio(n, &out));
                printf("%d %d\n", out.size == len + room, out.memory == memory);
            }
            values(path, len + room);
            // What is only read is answered as it was.
            NC_memio again = {len, memory, NC_MEMIO_LOCKED};
            SHOW(nc_open_memio(path, 0, &again, &n));
            SHOW(nc_put_var1_int(n, 0, &at, &y));
            SHOW(nc_close_memio(n, &out));
            printf("%d %d\n", out.size == len, out.memory == memory);
        }
    }
    return 0;
}
