// An exception nobody catches ends the program.
#include <atomic>
#include <stdexcept>
#include <thread>

static std::atomic<bool> broken;

int main() {
    std::thread worker([] {
        if (broken)
            throw std::runtime_error("broken"); // CRASH
    });
    broken = true;
    worker.join();
    return 0;
}
