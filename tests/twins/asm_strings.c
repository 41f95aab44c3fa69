// String instructions in inline assembly fill and copy as many bytes as their counter says.
// Shows: inline assembly (x86-64): `rep stos` and `rep movs`: as many bytes as the counter says
#include <pthread.h>
#include <string.h>

static char text[64], copy[64];

#ifdef __x86_64__
#define FILL(to, count, words, end) \
    __asm__ volatile("cld; rep; stosq" : "=c"(words), "=D"(end) : "a"(0), "0"((count) / 8), "1"(to) : "memory")
#else
#define FILL(to, count, words, end) ((void)(words), (void)(end), memset(to, 0, count))
#endif

static void fill(char *to, size_t count) {
    size_t words = 0;
    char *end = to;
    FILL(to, count, words, end); // RACE!
}

static void move(char *to, const char *from, size_t count) {
#ifdef __x86_64__
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
#else
    memcpy(to, from, count);
#endif
}

static void *work(void *arg) {
    fill(text, 32);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    text[32] = 1;
    move(copy, text + 32, 32);
#ifdef RACY
    text[31] = 1; // RACE!
#endif
    pthread_join(thread, NULL);
    move(copy, text, sizeof text);
    return 0;
}
