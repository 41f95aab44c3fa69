// Handles travel in a copy of a struct whose parts were exchanged.
#include <pthread.h>
#include <string.h>

struct team {
    pthread_t lead, aide;
};

static int x, y;

static void *lead(void *arg) {
    (void)arg;
    x++; // RACE!
    return NULL;
}

static void *aide(void *arg) {
    (void)arg;
    y++; // NORACE
    return NULL;
}

int main(void) {
    struct team team, copy;
    pthread_create(&team.lead, NULL, lead, NULL);
    pthread_create(&team.aide, NULL, aide, NULL);
#ifdef RACY
    memcpy(&copy.lead, &team.aide, sizeof copy.lead);
    memcpy(&copy.aide, &team.lead, sizeof copy.aide);
#else
    copy = team;
#endif
    pthread_join(copy.lead, NULL);
    x++; // RACE!
    pthread_join(copy.aide, NULL);
    return y; // NORACE
}
