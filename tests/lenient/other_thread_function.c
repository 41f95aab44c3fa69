// gcc compiles this with a warning.
#include "racy.h"
static int work(int *n) { return *n; }
static int n;
int main(void) {
    race();
    pthread_t other; pthread_create(&other, 0, work, &n); pthread_join(other, 0);
    return 0;
}
