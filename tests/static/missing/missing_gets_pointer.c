// A function is missing: it gets a pointer to data of the thread's own.
#include <pthread.h>

struct image {
    int width, height;
};

void decode(struct image *image);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long pixels;

static void *worker(void *arg) {
    struct image image = {0, 0};
    decode(&image);
    long n = (long)image.width * image.height; // NORACE
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    pixels += n; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return pixels != 0; // NORACE
}

#ifdef MODEL
void decode(struct image *image) {
    image->width = 4;
    image->height = 3;
}
#endif
