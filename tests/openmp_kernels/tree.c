// A tree is visited by tasks, which count its nodes.
#include <stddef.h>
struct node {
    struct node *left, *right;
};
static struct node leaves[2], root = {&leaves[0], &leaves[1]};
static int count;

static void visit(struct node *node) {
    if (!node)
        return;
#ifndef RACY
#pragma omp atomic
#endif
    count++; // RACE!
#pragma omp task firstprivate(node)
    visit(node->left);
#pragma omp task firstprivate(node)
    visit(node->right);
}

int main(void) {
#pragma omp parallel
#pragma omp single
    visit(&root);
    return count == 99;
}
