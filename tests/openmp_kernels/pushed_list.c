// Iterations push nodes to a common list.
#include <stdlib.h>
enum { N = 3 };
struct node {
    struct node *next;
    int value;
};
static struct node *head;

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
        struct node *node = malloc(sizeof *node);
        if (!node)
            continue;
        node->value = i;
#ifndef RACY
#pragma omp critical
#endif
        {
            node->next = head; // RACE!
            head = node;       // RACE!
        }
    }
    int sum = 0;
    for (struct node *node = head; node; node = node->next)
        sum += node->value;
    return sum == 99;
}
