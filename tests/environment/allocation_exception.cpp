// --environment allocation: `new` throws, and what catches it does not hold the lock.
#include <mutex>
#include <new>
#include <thread>

static std::mutex mutex;
static int failures;

static void work() {
    try {
        delete new int(1);
    } catch (const std::bad_alloc &) {
#ifdef RIGHT
        std::lock_guard<std::mutex> guard(mutex);
#endif
        failures++; // RACE!
    }
    int *other = new (std::nothrow) int;
    delete other;
}

int main() {
    auto run = [](void *) -> void * {
        work();
        return nullptr;
    };
    pthread_t thread;
    pthread_create(&thread, nullptr, run, nullptr);
    work();
    pthread_join(thread, nullptr);
}
