// A virtual function, called where an exception would have to be handled.
struct Shape {
    virtual ~Shape() = default;
    virtual int area(int i) = 0;
};
static int last, areas[12];
struct Square : Shape {
    int area(int i) override {
#ifdef RACY
        last = i; // RACE!
#endif
        return i * i;
    }
};
struct Guard {
    int *to;
    explicit Guard(int *to) : to(to) {}
    ~Guard() { *to += 1; }
};
int main() {
    Square square;
    Shape *volatile shape = &square;
#pragma omp simd
    for (int i = 0; i < 12; i++) {
        Guard guard(&areas[i]);
        areas[i] = shape->area(i);
    }
    return last;
}
