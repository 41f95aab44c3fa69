// A lambda that captures by reference is called in the region.
int main() {
    int calls = 0, a[4];
    auto work = [&](int i) {
#ifndef RACY
#pragma omp atomic
#endif
        calls++; // RACE!
        return i * i;
    };
#pragma omp parallel for
    for (int i = 0; i < 4; i++)
        a[i] = work(i);
    return a[0] + calls == 99;
}
