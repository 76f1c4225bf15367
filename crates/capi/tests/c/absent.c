/* Opens datasets, and prints the codes. */
#include <netcdf.h>
#include <stdio.h>

int main(int count, char **arguments) {
    int ncid;
    for (int i = 1; i < count; i++) printf("%d\n", nc_open(arguments[i], NC_NOWRITE, &ncid));
    return 0;
}
