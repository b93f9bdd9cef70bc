/* The command reproduce. What it does is experiments/. */
#include <stdlib.h>

#include "arguments.h"
#include "experiments/reproduce.h"

int run_reproduce(struct arguments *arguments)
{
    keepfit_options *options = arguments->options;
    const struct reproduction wanted = {.word = arguments->positional[0],
                                        .data = arguments->data,
                                        .out = arguments->out,
                                        .quick = arguments->quick,
                                        .quiet = arguments->quiet,
                                        .seed = keepfit_options_get_integer(options, "seed"),
                                        .threads = keepfit_options_get_integer(options, "threads")};
    return reproduce(&wanted);
}
