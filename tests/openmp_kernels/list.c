// A list is walked through by one thread, and its elements are handled by tasks.
#include <stddef.h>
enum { N = 3 };
struct node {
    struct node *next;
    int value;
};
static struct node nodes[N];

int main(void) {
    for (int i = 0; i + 1 < N; i++)
        nodes[i].next = &nodes[i + 1];
#pragma omp parallel
#pragma omp single
    for (struct node *node = nodes; node; node = node->next) {
#pragma omp task firstprivate(node)
        {
            node->value++; // RACE!
#ifdef RACY
            if (node->next)
                node->next->value++; // RACE!
#endif
        }
    }
    return nodes[0].value == 99;
}
