// Each thread has a copy of an object, made by its constructor; a pointer inside is common to all.
struct Buffer {
    int *data;
    int own[4] = {};
    explicit Buffer(int *shared) : data(shared) {}
    Buffer(const Buffer &other) : data(other.data) {}
    void set(int i) {
#ifdef RACY
        data[0] = i; // RACE!
#else
        own[i] = i;
#endif
    }
};

int main() {
    int common[4] = {};
    Buffer buffer(common);
#pragma omp parallel for firstprivate(buffer)
    for (int i = 0; i < 4; i++)
        buffer.set(i);
    return common[0] == 99;
}
