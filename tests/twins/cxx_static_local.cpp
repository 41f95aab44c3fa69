// A static local with a constructor is initialised by one thread while others wait.
#include <thread>

struct Config {
    int value;
    Config() { value = 1; } // NORACE
};

static Config &config() {
    static Config instance; // NORACE
    return instance;
}

int main() {
    std::thread worker([] {
#ifdef RACY
        config().value++; // RACE!
#else
        volatile int seen = config().value;
        (void)seen;
#endif
    });
    volatile int seen = config().value; // RACE!
    worker.join();
    return seen == 9;
}
