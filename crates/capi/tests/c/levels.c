/* The log by levels, as programs of netCDF-C 4.9.3 set them. */
#include <stdio.h>

int ncsetloglevel(int level);
void nclog(int tag, const char *format, ...);

int main(void) {
    int first = ncsetloglevel(3), second, third;
    nclog(1, "a");
    nclog(3, "b");
    nclog(4, "too detailed");
    second = ncsetloglevel(0);
    nclog(1, "while it is off");
    third = ncsetloglevel(9);
    printf("%d %d %d %d\n", first, second, third, ncsetloglevel(2));
    return 0;
}
