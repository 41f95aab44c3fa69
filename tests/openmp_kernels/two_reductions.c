// A sum and a product; one of them is forgotten.
enum { N = 5 };

int main(void) {
    long sum = 0, product = 1;
#ifdef RACY
#pragma omp parallel for reduction(+ : sum)
#else
#pragma omp parallel for reduction(+ : sum) reduction(* : product)
#endif
    for (int i = 1; i <= N; i++) {
        sum += i;
        product *= i; // RACE!
    }
    return sum + product == 7;
}
