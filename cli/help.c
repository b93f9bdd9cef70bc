/* Help texts, the man page and the completion scripts, all made from the tables. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "toolkit/output.h"
#include "toolkit/terminal.h"

#define WIDTH 98 /* where the terminal's is not known */
#define WIDEST 120
#define NARROW 60
#define INDENT 26 /* of what options do; in a narrow terminal: */
#define NARROW_INDENT 8

static size_t width(void)
{
    size_t found = terminal_width(STDOUT_FILENO, WIDTH);
    return found < WIDEST ? found : WIDEST;
}

/* Prints text wrapped at the width; `indent` blanks before every line but the first, which stands at `column`. */
static void print_wrapped(const char *text, size_t indent, size_t column)
{
    const size_t most = width();
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column + 1 + length > most && column > indent) {
            printf("\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        printf("%.*s", (int)length, text);
        column += length;
        text += length + (text[length] == ' ');
    }
    putchar('\n');
}

/* One option, of either table, as help shows it. */
struct shown {
    const char *key, *value, *initial, *help;
    char letter;
    bool flag;
};

static struct shown show_own(const struct own_option *option)
{
    return (struct shown){option->key,  option->value,  option->initial,
                          option->help, option->letter, option->type == KEEPFIT_FLAG};
}

static struct shown show_library(const keepfit_option *option)
{
    return (struct shown){option->key,
                          option->value,
                          option->initial,
                          option->help,
                          strcmp(option->key, "threads") == 0 ? 'j' : 0,
                          option->type == KEEPFIT_FLAG};
}

static void print_option(const struct shown *option)
{
    char text[1024];
    int used = printf("  --%s%s%s", option->key, option->flag ? "" : " ", option->value);
    if (option->letter)
        used += printf(", -%c", option->letter);
    size_t indent = width() < NARROW ? NARROW_INDENT : INDENT;
    if ((size_t)used + 2 > indent)
        printf("\n%*s", (int)indent, "");
    else
        printf("%*s", (int)indent - used, "");
    bool has_default = *option->initial && !option->flag;
    snprintf(text, sizeof text, "%s%s%s%s", option->help, has_default ? " (default: " : "",
             has_default ? option->initial : "", has_default ? ")" : "");
    print_wrapped(text, indent, indent);
}

static void print_group(const struct command *command, const char *group, const char *heading)
{
    keepfit_option option = {.struct_size = sizeof option};
    bool any = false;
    for (size_t k = 0; keepfit_option_entry(k, &option); k++)
        if (strcmp(option.group, group) == 0 && command_takes(command, &option)) {
            if (!any)
                printf("\n%s:\n", heading);
            any = true;
            print_option(&(struct shown){.key = option.key,
                                         .value = option.value,
                                         .initial = option.initial,
                                         .help = option.help,
                                         .letter = show_library(&option).letter,
                                         .flag = option.type == KEEPFIT_FLAG});
        }
}

void help_command(const struct command *command)
{
    int used = printf("keepfit %s - ", command->name);
    print_wrapped(command->summary, (size_t)used, (size_t)used);
    printf("\nusage: keepfit %s [options] %s\n\n", command->name, command->positional);
    print_wrapped(command->description, 0, 0);
    printf("\nexample:\n  %s\n\noptions of %s:\n", command->example, command->name);
    for (size_t k = 0; own_option_entry(k); k++)
        if (own_option_entry(k)->commands & command->id) {
            struct shown shown = show_own(own_option_entry(k));
            print_option(&shown);
        }
    print_group(command, "problem", "the problem");
    print_group(command, "method", "the method");
    print_group(command, "data", "the data");
    print_group(command, "predict", "the rows to predict");
    print_group(command, "journal", "the journal");
}

void help_overview(void)
{
    int used = printf("keepfit %s - ", keepfit_version());
    print_wrapped("keep a model fitted to all the data seen so far, while the data keeps arriving", (size_t)used,
                  (size_t)used);
    printf("\n"
           "  keepfit generate --rows 2000 --loss logistic > stream.svm\n"
           "  keepfit train --loss logistic --epsilon 1e-3 --model stream.kf stream.svm\n"
           "  keepfit predict --score stream.kf stream.svm > predictions.txt\n\ncommands:\n");
    for (size_t k = 0; command_entry(k); k++) {
        printf("  %-9s  ", command_entry(k)->name);
        print_wrapped(command_entry(k)->summary, 13, 13);
    }
    putchar('\n');
    print_wrapped(
        "'keepfit help COMMAND' lists its options. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 bad input data, "
        "4 corrupt file, 5 epsilon not reached, or not proved.",
        0, 0);
}

/* ---- man page ---- */

static void roff(const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    for (; *text; text++)
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
}

static void roff_option(const struct shown *option)
{
    fputs(".TP\n.B ", stdout);
    if (option->letter)
        printf("\\-%c, ", option->letter);
    fputs("\\-\\-", stdout);
    roff(option->key);
    if (!option->flag) {
        fputs(" \\fI", stdout);
        roff(option->value);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    roff(option->help);
    if (*option->initial && !option->flag) {
        fputs(" Default: ", stdout);
        roff(option->initial);
        putchar('.');
    }
    putchar('\n');
}

static void roff_command(const struct command *command)
{
    printf(".SS \"keepfit %s %s\"\n", command->name, command->positional);
    roff(command->description);
    fputs("\n.PP\n.EX\n", stdout);
    roff(command->example);
    fputs("\n.EE\n", stdout);
    for (size_t k = 0; own_option_entry(k); k++)
        if (own_option_entry(k)->commands & command->id && strcmp(own_option_entry(k)->key, "help") != 0 &&
            strcmp(own_option_entry(k)->key, "version") != 0) {
            struct shown shown = show_own(own_option_entry(k));
            roff_option(&shown);
        }
}

static void print_man(void)
{
    keepfit_option option = {.struct_size = sizeof option};
    printf(".TH KEEPFIT 1 \"\" \"keepfit %s\" \"User Commands\"\n.SH NAME\nkeepfit \\- keep a model fitted to all the "
           "data "
           "seen so far, while the data keeps arriving\n.SH SYNOPSIS\n.B keepfit\n.I COMMAND\n[options] ...\n.SH "
           "COMMANDS\n",
           keepfit_version());
    for (size_t k = 0; command_entry(k); k++)
        roff_command(command_entry(k));
    fputs(".SH \"OPTIONS OF TRAIN AND COMPARE\"\n", stdout);
    for (size_t k = 0; keepfit_option_entry(k, &option); k++) {
        struct shown shown = show_library(&option);
        roff_option(&shown);
    }
    fputs(".SH ENVIRONMENT\nEvery option can be set by a variable: KEEPFIT_LAMBDA for \\-\\-lambda, and so on. Options "
          "on "
          "the command line take precedence over the environment, and that over \\-\\-config.\n"
          ".SH \"EXIT STATUS\"\n"
          "0 done, 1 failed at run time, 2 wrong usage, 3 bad input data, 4 corrupt file, 5 epsilon not reached or not "
          "proved at some stage, 129, 130 and 143 stopped by a signal.\n",
          stdout);
}

/* ---- completion ---- */

static void print_options_of(const struct command *command)
{
    keepfit_option option = {.struct_size = sizeof option};
    for (size_t k = 0; own_option_entry(k); k++)
        if (own_option_entry(k)->commands & command->id)
            printf(" --%s", own_option_entry(k)->key);
    for (size_t k = 0; keepfit_option_entry(k, &option); k++)
        if (command_takes(command, &option))
            printf(" --%s", option.key);
}

static void print_names(keepfit_family family)
{
    keepfit_entry entry = {.struct_size = sizeof entry};
    for (size_t k = 0; keepfit_family_entry(family, k, &entry); k++)
        printf(" %s", entry.name);
}

static void print_value_cases(void)
{
    keepfit_option option = {.struct_size = sizeof option};
    for (size_t k = 0; keepfit_option_entry(k, &option); k++)
        if (option.choices) {
            printf("    --%s) COMPREPLY=($(compgen -W '", option.key);
            for (const char *at = option.choices; *at; at++)
                putchar(*at == '|' ? ' ' : *at);
            printf("' -- \"$word\")); return ;;\n");
        }
    printf("    --method) COMPREPLY=($(compgen -W '");
    print_names(KEEPFIT_METHODS);
    printf("' -- \"$word\")); return ;;\n    --format) COMPREPLY=($(compgen -W 'auto");
    print_names(KEEPFIT_FORMATS);
    printf("' -- \"$word\")); return ;;\n");
}

static void print_bash(void)
{
    printf("# completion for keepfit; made by 'keepfit help --completion'\n_keepfit()\n{\n"
           "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
           "  if [ \"$COMP_CWORD\" -eq 1 ]; then COMPREPLY=($(compgen -W '");
    for (size_t k = 0; command_entry(k); k++)
        printf("%s%s", k ? " " : "", command_entry(k)->name);
    printf("' -- \"$word\")); return; fi\n  case \"$before\" in\n");
    print_value_cases();
    printf("  esac\n  local options\n  case \"${COMP_WORDS[1]}\" in\n");
    for (size_t k = 0; command_entry(k); k++) {
        printf("    %s) options='", command_entry(k)->name);
        print_options_of(command_entry(k));
        printf("' ;;\n");
    }
    printf("  esac\n  case \"$word\" in\n    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
           "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n  esac\n}\ncomplete -o filenames -F _keepfit keepfit\n");
}

int run_help(struct arguments *arguments)
{
    if (arguments->man) {
        print_man();
    } else if (arguments->completion) {
        bool zsh = strcmp(arguments->completion, "zsh") == 0;
        if (!zsh && strcmp(arguments->completion, "bash") != 0)
            return fail_choice("--completion", arguments->completion, "bash|zsh");
        if (zsh)
            printf("#compdef keepfit\nautoload -U +X bashcompinit && bashcompinit\n");
        print_bash();
    } else if (arguments->positional_count == 1) {
        const struct command *command = command_find(arguments->positional[0]);
        if (!command)
            return command_refuse(arguments->positional[0]);
        help_command(command);
    } else {
        help_overview();
    }
    return EXIT_DONE;
}
