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
                                        .seed = strtoull(keepfit_options_get(options, "seed"), NULL, 10),
                                        .threads = strtoull(keepfit_options_get(options, "threads"), NULL, 10)};
    return reproduce(&wanted);
}
