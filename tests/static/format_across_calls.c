// Formats: a constant format that goes through a function of one's own still says what is read and written.
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static int count;
static char name[8] = "main";

static int put(char *to, size_t size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = vsnprintf(to, size, format, args); // RACE!
    va_end(args);
    return length;
}

static void *worker(void *arg) {
    char line[16];
#ifdef RACY
    put(line, sizeof line, "%s", name);
#else
    put(line, sizeof line, "%p %d", (void *)name, 1);
#endif
    return line[0] ? arg : NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    name[0] = 'M'; // RACE!
    count++;       // NORACE
    pthread_join(thread, NULL);
    return count; // NORACE
}
