// Named: which leaves processes running
#include "../start.h"

int main(void) {
    pthread_t other = thread(nothing);
    system("sleep 1000 & exit 0");
    pthread_join(other, 0);
    return 0;
}
