// thread_local objects have constructors and destructors of each thread's own.
#include <thread>

static int destroyed;

struct Mine {
    int value = 4;
    ~Mine() {
#ifdef RACY
        destroyed++; // RACE!
#endif
    }
};

static thread_local Mine mine;

int main() {
    std::thread worker([] {
        mine.value++; // NORACE
    });
    mine.value++; // NORACE
#ifdef RACY
    destroyed = 0; // RACE!
#endif
    worker.join();
    return mine.value != 5;
}
