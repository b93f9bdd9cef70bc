#define _DEFAULT_SOURCE /* explicit_bzero */
#include "service/guard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define TOKEN_LEAST 16
#define TOKEN_MOST 256

struct token {
    char bytes[TOKEN_MOST]; /* zeros behind it */
    unsigned scopes;
};

struct tokens {
    struct token *token;
    size_t count;
};

struct guard {
    char *path;
    pthread_mutex_t lock;
    struct tokens tokens;
};

static bool read_scope(const char *word, unsigned *scopes)
{
    static const struct {
        const char *name;
        unsigned scopes;
    } all[] = {{"read", SCOPE_READ},
               {"write", SCOPE_WRITE},
               {"forget", SCOPE_FORGET},
               {"admin", SCOPE_READ | SCOPE_WRITE | SCOPE_FORGET | SCOPE_ADMIN}};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        if (strcmp(word, all[k].name) == 0) {
            *scopes |= all[k].scopes;
            return true;
        }
    return false;
}

static bool read_line(char *line, struct tokens *tokens, char *why, size_t room)
{
    char *rest = NULL, *word = strtok_r(line, " \t\r\n", &rest);
    struct token made = {.scopes = 0};
    if (!word || *word == '#')
        return true;
    if (strlen(word) < TOKEN_LEAST || strlen(word) >= TOKEN_MOST) {
        snprintf(why, room, "a token has %d to %d bytes", TOKEN_LEAST, TOKEN_MOST - 1);
        return false;
    }
    strcpy(made.bytes, word);
    while ((word = strtok_r(NULL, " \t\r\n", &rest)))
        if (!read_scope(word, &made.scopes)) {
            snprintf(why, room, "'%.20s' is none of read, write, forget, admin", word);
            return false;
        }
    if (!made.scopes) {
        snprintf(why, room, "behind a token stands what it is for: read, write, forget, admin");
        return false;
    }
    struct token *grown = realloc(tokens->token, (tokens->count + 1) * sizeof *grown);
    if (!grown) {
        snprintf(why, room, "out of memory");
        return false;
    }
    tokens->token = grown;
    tokens->token[tokens->count++] = made;
    return true;
}

static bool read_tokens(const char *path, struct tokens *tokens, char *why, size_t room)
{
    char line[1024], reason[160] = "";
    struct stat about;
    FILE *file = fopen(path, "re");
    if (!file) {
        snprintf(why, room, "%s: %s", path, strerror(errno));
        return false;
    }
    bool good = fstat(fileno(file), &about) == 0 && !(about.st_mode & 077);
    if (!good)
        snprintf(reason, sizeof reason, "others can read it (chmod 600 keeps them out)");
    for (int number = 1; good && fgets(line, sizeof line, file); number++)
        if (!(good = read_line(line, tokens, reason, sizeof reason)))
            snprintf(why, room, "%s:%d: %s", path, number, reason);
    if (reason[0] && tokens->count == 0 && !good && !why[0])
        snprintf(why, room, "%s: %s", path, reason);
    if (good && tokens->count == 0) {
        snprintf(why, room, "%s: there is no token in it", path);
        good = false;
    }
    explicit_bzero(line, sizeof line);
    fclose(file);
    return good;
}

struct guard *guard_create(const char *path, char *why, size_t room)
{
    struct guard *guard = calloc(1, sizeof *guard);
    why[0] = '\0';
    if (!guard || (path && !(guard->path = strdup(path)))) {
        snprintf(why, room, "out of memory");
        free(guard);
        return NULL;
    }
    pthread_mutex_init(&guard->lock, NULL);
    if (path && !read_tokens(path, &guard->tokens, why, room)) {
        guard_free(guard);
        return NULL;
    }
    return guard;
}

bool guard_reload(struct guard *guard, char *why, size_t room)
{
    struct tokens tokens = {0};
    why[0] = '\0';
    if (!guard->path)
        return true;
    if (!read_tokens(guard->path, &tokens, why, room)) {
        free(tokens.token);
        return false;
    }
    pthread_mutex_lock(&guard->lock);
    struct tokens before = guard->tokens;
    guard->tokens = tokens;
    pthread_mutex_unlock(&guard->lock);
    free(before.token);
    return true;
}

void guard_free(struct guard *guard)
{
    if (!guard)
        return;
    pthread_mutex_destroy(&guard->lock);
    free(guard->tokens.token);
    free(guard->path);
    free(guard);
}

bool guard_has_tokens(const struct guard *guard)
{
    return guard->path;
}

/* Takes as long whatever they have in common. */
static bool same(const struct token *token, const char given[TOKEN_MOST])
{
    unsigned char differ = 0;
    for (size_t k = 0; k < TOKEN_MOST; k++)
        differ |= (unsigned char)(token->bytes[k] ^ given[k]);
    return differ == 0;
}

bool guard_allows(struct guard *guard, enum scope scope, const char *authorization, struct trouble *trouble)
{
    static const char scheme[] = "Bearer ";
    char given[TOKEN_MOST] = "";
    unsigned scopes = 0;
    if (scope == SCOPE_NONE || !guard_has_tokens(guard))
        return true;
    if (!authorization || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0 ||
        strlen(authorization) >= sizeof scheme - 1 + TOKEN_MOST)
        return trouble_set(trouble, 401, "token", "a token is needed: Authorization: Bearer TOKEN");
    strcpy(given, authorization + sizeof scheme - 1);
    pthread_mutex_lock(&guard->lock);
    bool known = false;
    for (size_t k = 0; k < guard->tokens.count; k++) {
        bool it = same(&guard->tokens.token[k], given);
        known |= it;
        scopes |= it ? guard->tokens.token[k].scopes : 0;
    }
    pthread_mutex_unlock(&guard->lock);
    explicit_bzero(given, sizeof given);
    if (!known)
        return trouble_set(trouble, 401, "token", "the token is not known");
    return (scopes & scope) == (unsigned)scope || trouble_set(trouble, 403, "scope", "the token is not for this");
}

bool guard_is_loopback(const char *host, size_t length)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]", "::1"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (strlen(names[k]) == length && strncasecmp(host, names[k], length) == 0)
            return true;
    return false;
}

/* Without the port. */
static size_t host_length(const char *host)
{
    const char *bracket = *host == '[' ? strchr(host, ']') : NULL;
    return bracket ? (size_t)(bracket - host) + 1 : strcspn(host, ":");
}

bool guard_host(const struct guard *guard, const char *host, const char *origin, struct trouble *trouble)
{
    if (!host || !*host)
        return trouble_set(trouble, 400, "host", "the request has no Host");
    /* A page from elsewhere may have its own name lead here: without tokens only this machine's names count. */
    if (!guard_has_tokens(guard) && !guard_is_loopback(host, host_length(host)))
        return trouble_set(trouble, 403, "host", "the Host '%.80s' is not this machine's (other names need tokens)",
                           host);
    if (!origin)
        return true;
    const char *scheme = strstr(origin, "://");
    if (scheme && strcasecmp(scheme + 3, host) == 0)
        return true;
    return trouble_set(trouble, 403, "origin", "pages of '%.80s' may not ask here", origin);
}
