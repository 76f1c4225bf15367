/* The log of netCDF-C's own programs. */
#include <stdio.h>

int ncsetlogging(int is_on);
void nclog(int tag, const char *format, ...);

int main(void) {
    nclog(0, "before it is on");
    int first = ncsetlogging(1);
    nclog(0, "a");
    nclog(1, "b");
    nclog(3, "c");
    nclog(4, "d");
    int second = ncsetlogging(0), third;
    nclog(1, "while it is off");
    third = ncsetlogging(0);
    nclog(2, "e");
    nclog(0, "f");
    printf("%d %d %d %d\n", first, second, third, ncsetlogging(0));
    return 0;
}
