// Named: executes another program in its own place
#include "../start.h"

int main(void) {
    pthread_t other = thread(nothing);
    execlp("true", "true", (char *)0);
    pthread_join(other, 0);
    return 0;
}
