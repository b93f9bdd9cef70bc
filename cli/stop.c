#define _POSIX_C_SOURCE 200809L
#include "stop.h"

#include <signal.h>

#include "arguments.h"

volatile int stop_signal;

static void on_signal(int number)
{
    stop_signal = number;
}

void stop_watch(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int stop_code(void)
{
    return stop_signal == SIGINT ? EXIT_INTERRUPTED : EXIT_TERMINATED;
}
