#define _XOPEN_SOURCE 700 /* SA_RESTART */
#include "toolkit/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "toolkit/exit_code.h"

#define GRACE_SECONDS 1

atomic_int stop_signal;
static keepfit_stop *reading; /* what stops a wait for input */
static volatile sig_atomic_t acknowledged;

/* The first signal's second is over, and the process still at work. */
static void on_alarm(int number)
{
    static const char text[] =
        "keepfit: stopping, as soon as this stage is done and everything is written; another signal stops at once\n";
    int kept = errno;
    (void)number;
    acknowledged = write(STDERR_FILENO, text, sizeof text - 1) != 0;
    errno = kept;
}

static void on_signal(int number)
{
    if (acknowledged) {
        signal(number, SIG_DFL);
        raise(number); /* delivered when this handler returns */
    } else if (!stop_signal) {
        stop_signal = number;
        keepfit_stop_raise(reading);
        alarm(GRACE_SECONDS);
    }
}

/* Reading is not restarted for ever: the library looks at what was raised while it waits for input. Writing has to be, or what is being written
 * would be lost to the second signal. */
static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_flags = SA_RESTART};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask); /* one at a time, so that the first to come is the one that counts */
    sigaddset(&action.sa_mask, SIGALRM);
    sigaddset(&action.sa_mask, SIGHUP);
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaction(number, &action, NULL);
}

/* A command under nohup goes on when its terminal goes: what it was started to ignore stays ignored. */
static bool is_ignored(int number)
{
    struct sigaction before;
    return sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_IGN;
}

keepfit_stop *stop_watch(void)
{
    if (!reading)
        reading = keepfit_stop_create();
    handle(SIGALRM, on_alarm);
    if (!is_ignored(SIGHUP))
        handle(SIGHUP, on_signal);
    handle(SIGINT, on_signal);
    handle(SIGTERM, on_signal);
    return reading;
}

int stop_code(void)
{
    return stop_signal == SIGINT ? EXIT_INTERRUPTED : stop_signal == SIGHUP ? EXIT_HUNG_UP : EXIT_TERMINATED;
}
