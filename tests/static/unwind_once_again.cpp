// A once-routine that throws runs again in the next call; who only caught its exception comes after nothing.
#include <mutex>
#include <thread>

static std::once_flag flag;
static int attempts;
static int ready;

static void prepare() {
    if (++attempts == 1) // NORACE
        throw 1;
    ready = 1; // RACE!
}

static void work() {
    try {
        std::call_once(flag, prepare);
    } catch (int) {
#ifdef RACY
        ready = 2; // RACE!
#else
        std::call_once(flag, prepare);
#endif
    }
}

int main() {
    std::thread one(work), two(work);
    one.join();
    two.join();
    return ready; // NORACE
}
