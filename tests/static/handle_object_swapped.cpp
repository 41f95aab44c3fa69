// Two `std::thread`s are swapped before the first one is joined.
#include <thread>
#include <utility>

static int x, y;

static void first() {
    x++; // RACE!
}

static void second() {
    y++; // NORACE
}

int main() {
    std::thread one(first), two(second);
    std::swap(one, two);
#ifdef RACY
    one.join();
    x++; // RACE!
    two.join();
#else
    one.join();
    two.join();
    x++; // NORACE
#endif
    return y; // NORACE
}
