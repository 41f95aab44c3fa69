// An exception passes a function that is called through a pointer, and a frame that only cleans up.
#include <mutex>
#include <thread>

static std::mutex m;
static int x;

static void refuse() {
    throw 1;
}

static void guarded(void (*action)()) {
    std::lock_guard<std::mutex> guard(m);
    x++; // RACE!
    action();
}

static void work(void (*action)()) {
    try {
        guarded(action);
    } catch (int) {
#ifdef RACY
        x++; // RACE!
#else
        std::lock_guard<std::mutex> guard(m);
        x++; // NORACE
#endif
    }
}

int main() {
    std::thread one(work, refuse), two(work, refuse);
    one.join();
    two.join();
    return x; // NORACE
}
