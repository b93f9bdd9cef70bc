/* Streams: every format read, every malformed file refused with its place, shuffle, limit and scale by their
 * laws, pipes. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

#include "helpers.h"

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(300); /* what waits for ever is a failure */
    begin_tests();
    test_libsvm();
    test_csv();
    test_gzip();
    test_npy();
    test_idx();
    test_formats();
    test_numbers();
    test_prepare();
    test_pipes();
    test_tables();
    return end_tests();
}
