// A constructor throws after its guard was made: the guard is destroyed, the object never existed.
#include <mutex>
#include <thread>

static std::mutex m;
static int x;

struct Session {
    std::lock_guard<std::mutex> guard;
    Session() : guard(m) {
        x++; // RACE!
        throw 1;
    }
    ~Session() { x = 100; } // NORACE
};

static void work() {
    try {
        Session session;
    } catch (int) {
#ifdef RACY
        x--; // RACE!
#else
        std::lock_guard<std::mutex> guard(m);
        x--; // NORACE
#endif
    }
}

int main() {
    std::thread one(work), two(work);
    one.join();
    two.join();
    return x; // NORACE
}
