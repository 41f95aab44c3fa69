// Shows: processes: a stream of `popen`, read by another thread. Racy: it is closed meanwhile.
#include "start.h"

static FILE *command;

static void *read_line(void *arg) {
    char line[8];
    assert(fgets(line, sizeof line, command) && !strcmp(line, "hi\n"));
    return arg;
}

int main(void) {
    command = popen("echo hi; echo ho", "r");
    pthread_t other = thread(read_line);
#ifndef RACY
    pthread_join(other, 0);
#endif
    assert(pclose(command) == 0);
#ifdef RACY
    pthread_join(other, 0);
#endif
    return 0;
}
