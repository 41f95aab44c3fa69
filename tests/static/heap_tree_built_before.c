// Heap objects: a tree built by main before the threads start, then only read.
#include <pthread.h>
#include <stdlib.h>

struct node {
    int key;
    int visits;
    struct node *left, *right;
};

static struct node *leaf(int key) {
    struct node *n = calloc(1, sizeof *n);
    n->key = key; // NORACE
    return n;
}

static int find(struct node *n, int key) {
    while (n != NULL && n->key != key) { // NORACE
#ifdef RACY
        n->visits++; // RACE!
#endif
        n = key < n->key ? n->left : n->right; // NORACE
    }
    return n != NULL;
}

static void *searcher(void *arg) {
    struct node *root = arg;
    return find(root, 3) ? NULL : arg;
}

int main(void) {
    pthread_t a, b;
    struct node *root = leaf(2);
    root->left = leaf(1); // NORACE
    root->right = leaf(3); // NORACE
    pthread_create(&a, NULL, searcher, root);
    pthread_create(&b, NULL, searcher, root);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return root->visits; // NORACE
}
