/* A library that has nothing to do with filters. */
int add(int a, int b) { return a + b; }
