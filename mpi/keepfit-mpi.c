/* keepfit-mpi: the command `keepfit train`, run by all ranks of a team. All of them read the stream and come to the same model; rank 0
 * alone writes files and speaks. What another rank says is heard only where it ends with another exit code than rank 0. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/program.h"
#include "cli/team.h"
#include "keepfit-mpi.h"

/* Standard error of a rank that is not to speak: where it went before, and a file without a name; -1: it goes where it did. */
static int before = -1, kept = -1;

static void hush(void)
{
    FILE *file = tmpfile();
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0)
        dup2(nowhere, STDOUT_FILENO);
    if (!file)
        return;
    before = dup(STDERR_FILENO);
    kept = fileno(file);
    dup2(kept, STDERR_FILENO);
}

static void say(void)
{
    char text[4096];
    ssize_t count;
    if (kept < 0)
        return;
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    lseek(kept, 0, SEEK_SET);
    fprintf(stderr, "keepfit-mpi: rank %zu has ended by itself:\n", cli_team->rank);
    while ((count = read(kept, text, sizeof text)) > 0)
        fwrite(text, 1, (size_t)count, stderr);
    kept = -1;
}

static bool is_served(int count, char **words)
{
    if (count < 2 || strcmp(words[1], "train") == 0 || words[1][0] == '-')
        return true;
    fprintf(stderr, "keepfit-mpi: '%s' needs no team: keepfit %s does it (train is what many ranks do)\n", words[1],
            words[1]);
    return false;
}

int main(int count, char **words)
{
    cli_team = keepfit_mpi_join(&count, &words);
    if (cli_team->rank > 0)
        hush();
    return keepfit_mpi_leave(is_served(count, words) ? program_run(count, words) : EXIT_USAGE, say);
}
