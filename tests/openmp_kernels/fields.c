// Fields of structs in an array.
static struct { int x, y; } s[50];

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < 50; i++)
#ifdef RACY
        s[i / 2].x = s[i].y; // RACE!
#else
        s[i].x = s[i].y;
#endif
    return 0;
}
