// strtod_l reads a number up to the character that ends it, and nothing behind that.
#define _GNU_SOURCE
#include <assert.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>

static char text[] = "2.5;8";

static void *worker(void *arg) {
#ifdef RACY
    text[0] = '3'; // RACE!
#else
    text[4] = '9';
#endif
    return arg;
}

int main(void) {
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    pthread_t thread;
    char *end;
    pthread_create(&thread, NULL, worker, NULL);
    double number = strtod_l(text, &end, locale); // RACE!
    pthread_join(thread, NULL);
    freelocale(locale);
    assert(number == 2.5 || number == 3.5);
    assert(end == text + 3);
    return 0;
}
