// Shared-variable discovery: copying a pointer to shared data is no update of the data; storing through it is.
#include <pthread.h>

struct node {
    int value;
    struct node *next;
};

static struct node second = {2, NULL};
static struct node first = {1, &second};
static struct node *head = &first;

static int sum(void) {
    int total = 0;
    for (struct node *n = head; n != NULL; n = n->next) // NORACE
        total += n->value; // RACE!
    return total;
}

static void *reader(void *arg) {
    int *out = arg;
    *out = sum(); // NORACE
    return NULL;
}

int main(void) {
    pthread_t thread;
    int theirs, mine;
    pthread_create(&thread, NULL, reader, &theirs);
    mine = sum();
#ifdef RACY
    struct node *last = head->next; // NORACE
    last->value = 20; // RACE!
#endif
    pthread_join(thread, NULL);
    return mine == theirs; // NORACE
}
