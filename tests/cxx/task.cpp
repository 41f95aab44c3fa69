// A task is packed here and run there.
#include <future>
#include <thread>

static int runs;

static int run(int n) {
    runs++; // RACE!
    return n * 2;
}

int main() {
    std::packaged_task<int(int)> task(run);
    std::future<int> result = task.get_future();
    std::thread worker(std::move(task), 21);
#ifdef RACY
    int before = runs; // RACE!
    int value = result.get();
#else
    int value = result.get();
    int before = runs;
#endif
    worker.join();
    return value == 42 && before <= 1 ? 0 : 1;
}
