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

/* Standard output goes nowhere, standard error to a file without a name, which is returned with where it went before; -1: it stays. */
struct hushed {
    int before, kept;
};

static struct hushed hush(void)
{
    struct hushed hushed = {-1, -1};
    FILE *kept = tmpfile();
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0)
        dup2(nowhere, STDOUT_FILENO);
    if (!kept || nowhere < 0)
        return hushed;
    hushed = (struct hushed){dup(STDERR_FILENO), fileno(kept)};
    dup2(hushed.kept, STDERR_FILENO);
    return hushed;
}

static void say_all_the_same(struct hushed hushed, size_t rank)
{
    char text[4096];
    ssize_t count;
    if (hushed.kept < 0)
        return;
    fflush(stderr);
    dup2(hushed.before, STDERR_FILENO);
    lseek(hushed.kept, 0, SEEK_SET);
    fprintf(stderr, "keepfit-mpi: rank %zu ended in another way than others:\n", rank);
    while ((count = read(hushed.kept, text, sizeof text)) > 0)
        fwrite(text, 1, (size_t)count, stderr);
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
    struct hushed hushed = {-1, -1};
    cli_team = keepfit_mpi_join(&count, &words);
    if (cli_team->rank > 0)
        hushed = hush();
    int code = is_served(count, words) ? program_run(count, words) : EXIT_USAGE;
    size_t rank = cli_team->rank;
    int result = keepfit_mpi_leave(code);
    if (rank > 0 && result != code)
        say_all_the_same(hushed, rank);
    return result;
}
