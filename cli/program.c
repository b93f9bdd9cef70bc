#include "program.h"

#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "toolkit/output.h"

static int show_version(void)
{
    printf("keepfit %s\n", keepfit_version());
    return EXIT_DONE;
}

static int run(int count, char **words)
{
    if (count < 2) {
        fprintf(stderr, "usage: keepfit COMMAND [options] ...   (see 'keepfit --help')\n");
        return EXIT_USAGE;
    }
    if (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0) {
        help_overview();
        return EXIT_DONE;
    }
    if (strcmp(words[1], "--version") == 0 || strcmp(words[1], "-V") == 0)
        return show_version();
    struct arguments arguments = {.command = command_find(words[1]), .words = words, .word_count = count};
    if (!arguments.command)
        return command_refuse(words[1]);
    int code = arguments_read(&arguments, count - 1, words + 1);
    if (code == EXIT_DONE && arguments.version)
        code = show_version();
    else if (code == EXIT_DONE && arguments.help)
        help_command(arguments.command);
    else if (code == EXIT_DONE)
        code = arguments.command->run(&arguments);
    arguments_free(&arguments);
    return code;
}

int program_run(int count, char **words)
{
    return finish_standard_output(run(count, words));
}
