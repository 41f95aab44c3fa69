// std::thread and std::mutex.
#include <mutex>
#include <thread>

static std::mutex m;
static int counter;

int main() {
    std::thread worker([] {
#ifdef RACY
        counter++; // RACE!
#else
        std::lock_guard<std::mutex> guard(m);
        counter++;
#endif
    });
    {
        std::lock_guard<std::mutex> guard(m);
        counter++; // RACE!
    }
    worker.join();
    return 0;
}
