#define _DEFAULT_SOURCE
#include "toolkit/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LEAST 20
#define MOST 1000

size_t terminal_width(int descriptor, size_t otherwise)
{
    struct winsize size = {.ws_col = 0};
    const char *said = getenv("COLUMNS");
    long width = said ? strtol(said, NULL, 10) : 0;
    if (width < 1 && isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (width < 1)
        return otherwise;
    return width < LEAST ? LEAST : width > MOST ? MOST : (size_t)width;
}
