// std::condition_variable with a predicate.
// Shows: threads: C++ threads with their locks and condition variables
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex m;
static std::condition_variable cv;
static bool ready;
static int data;

int main() {
    std::thread producer([] {
#ifdef RACY
        {
            std::lock_guard<std::mutex> guard(m);
            ready = true; // NORACE
        }
        data = 1; // RACE!
#else
        data = 1;
        {
            std::lock_guard<std::mutex> guard(m);
            ready = true;
        }
#endif
        cv.notify_one();
    });
    std::unique_lock<std::mutex> lock(m);
    cv.wait(lock, [] { return ready; }); // NORACE
    lock.unlock();
    int seen = data; // RACE!
    producer.join();
    return seen == 9;
}
