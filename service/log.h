/* Log lines: one JSON object each, to standard error or a file, which SIGHUP opens anew. */
#ifndef KEEPFIT_SERVICE_LOG_H
#define KEEPFIT_SERVICE_LOG_H

struct log;

/* path NULL: standard error. NULL: it cannot be opened; errno says why. */
struct log *log_open(const char *path);
void log_reopen(struct log *log);
void log_close(struct log *log);
void log_line(struct log *log, const char *level, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
