// Words of a text are counted, each thread in its part.
#include <ctype.h>
#include <string.h>
static const char text[] = "a quick fox";

int main(void) {
    int words = 0, n = (int)strlen(text);
#ifdef RACY
#pragma omp parallel for shared(words)
#else
#pragma omp parallel for reduction(+ : words)
#endif
    for (int i = 0; i < n; i++)
        if (!isspace((unsigned char)text[i]) && (i == 0 || isspace((unsigned char)text[i - 1])))
            words++; // RACE!
    return words == 99;
}
