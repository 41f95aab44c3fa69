// Neighbouring bit-fields share a byte: writing one writes the other.
static struct {
#ifdef RACY
    unsigned char first : 4, second : 4;
#else
    unsigned char first, second;
#endif
} pair;

int main(void) {
#pragma omp parallel sections
    {
#pragma omp section
        pair.first = 1; // RACE!
#pragma omp section
        pair.second = 2; // RACE!
    }
    return pair.first == 9;
}
