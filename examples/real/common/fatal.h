/* What every program here needs when something goes wrong. */
#ifndef FATAL_H
#define FATAL_H

#include <stddef.h>

/* The name in front of messages; the program sets it first. */
extern const char *program_name;

/* Prints a message and ends the program with status 2. */
void fatal(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* The same, with what errno says. */
void fatal_errno(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Prints a message and goes on. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Memory, or the end of the program. */
void *allocate(size_t count, size_t size);
void *reallocate(void *old, size_t count, size_t size);

/* For calls of the thread library, which return an error number. */
void must(int error, const char *what);

#endif
