// Named: which writes without end
#include "../start.h"

int main(void) {
    pthread_t other = thread(nothing);
    FILE *command = popen("yes", "r");
    char line[8];
    assert(fgets(line, sizeof line, command));
    pclose(command);
    pthread_join(other, 0);
    return 0;
}
