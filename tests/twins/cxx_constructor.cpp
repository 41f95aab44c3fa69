// Constructors of globals run before main, in main's thread.
#include <thread>

struct Registry {
    int size;
    Registry() : size(3) {} // NORACE
    ~Registry() { size = 0; } // NORACE
};

static Registry registry;

int main() {
    std::thread worker([] {
#ifdef RACY
        registry.size++; // RACE!
#else
        volatile int seen = registry.size;
        (void)seen;
#endif
    });
    volatile int seen = registry.size; // RACE!
    worker.join();
    return seen == 9;
}
