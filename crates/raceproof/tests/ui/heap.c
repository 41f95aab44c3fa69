// A node is read by one thread while the other frees it.
#include <pthread.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};
static struct node *head;

static void *reader(void *arg) {
    int *sum = arg;
    *sum = head->value; // RACE!
    return 0;
}

int main(void) {
    int sum = 0;
    pthread_t thread;
    head = malloc(sizeof *head);
    head->next = 0;
    head->value = 7;
    pthread_create(&thread, 0, reader, &sum);
    free(head); // RACE!
    pthread_join(thread, 0);
    return 0;
}
