// A thread is asked to stop. C++20.
// Shows: threads: C++20 threads that are asked to stop
#include <stop_token>
#include <thread>

static int progress;

int main() {
    int seen = 0;
    {
        std::jthread worker([](std::stop_token stop) {
            if (!stop.stop_requested())
                progress++; // RACE!
        });
        worker.request_stop();
#ifdef RACY
        seen = progress; // RACE!
#endif
    }
    seen += progress;
    return seen <= 2 ? 0 : 1;
}
