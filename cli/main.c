#include "program.h"

int main(int count, char **words)
{
    return program_run(count, words);
}
