// An exception releases the lock on its way out.
// Shows: threads: C++ exceptions
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex m;
static int counter;

static void risky() {
    std::lock_guard<std::mutex> guard(m);
    counter++; // RACE!
    throw std::runtime_error("out of luck");
}

int main() {
    std::thread worker([] {
        try {
            risky();
        } catch (const std::exception &) {
#ifdef RACY
            counter--; // RACE!
#endif
        }
    });
    try {
        risky();
    } catch (const std::exception &) {
    }
    worker.join();
    return 0;
}
