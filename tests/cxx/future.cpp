// A result is handed over by a promise.
#include <future>
#include <string>
#include <thread>

struct Answer {
    std::string text;
    int code = 0;
};

static Answer answer;

static void compute(std::promise<void> done) {
    answer.text = "a text that is too long for the string itself"; // RACE!
    answer.code = 42; // RACE!
    done.set_value();
}

int main() {
    std::promise<void> promise;
    std::future<void> done = promise.get_future();
    std::thread worker(compute, std::move(promise));
#ifdef RACY
    int code = answer.code; // RACE!
    done.wait();
#else
    done.wait();
    int code = answer.code;
#endif
    worker.join();
    return code == 42 || code == 0 ? 0 : 1;
}
