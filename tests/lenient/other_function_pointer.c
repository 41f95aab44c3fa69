// gcc compiles this with a warning.
#include "racy.h"
static void handler(int *p) { (void)p; }
void (*call)(char *) = handler;
int main(void) {
    race();
    (void)call;
    return 0;
}
