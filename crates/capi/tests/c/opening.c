/* Opens each address that it gets, for reading and for writing, and prints the codes. */
#include <netcdf.h>
#include <stdio.h>

int main(int count, char **arguments) {
    for (int i = 1; i < count; i++) {
        for (int mode = NC_NOWRITE; mode <= NC_WRITE; mode++) {
            int n, code = nc_open(arguments[i], mode, &n);
            printf("%d: %d\n", i, code);
            if (!code) nc_close(n);
        }
    }
    return 0;
}
