// A `std::thread` is moved into another object, which is joined too late.
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
    std::thread one(first);
    std::thread moved(std::move(one));
    one = std::thread(second);
    one.join();
#ifdef RACY
    x++; // RACE!
    moved.join();
#else
    moved.join();
    x++; // NORACE
#endif
    return y; // NORACE
}
