// A guard object is destroyed, and its lock released, before the handler runs.
#include <mutex>
#include <thread>

static std::mutex m;
static int x;

static void deposit(int amount) {
    std::lock_guard<std::mutex> guard(m);
    if (amount < 0)
        throw amount;
    x += amount; // RACE!
}

static void work() {
    try {
        deposit(1);
        deposit(-1);
    } catch (int amount) {
#ifdef RACY
        x += amount; // RACE!
#else
        std::lock_guard<std::mutex> guard(m);
        x += amount; // NORACE
#endif
    }
}

int main() {
    std::thread one(work), two(work);
    one.join();
    two.join();
    return x; // NORACE
}
