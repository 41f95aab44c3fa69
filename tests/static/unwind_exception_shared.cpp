// An exception that `std::exception_ptr` keeps is one object for all who throw it again.
#include <exception>
#include <mutex>
#include <thread>

struct Error {
    int seen = 0;
};

static std::mutex m;
static std::exception_ptr kept;

static void work() {
    try {
        std::rethrow_exception(kept); // NORACE
    } catch (Error &error) {
#ifdef RACY
        error.seen++; // RACE!
#else
        std::lock_guard<std::mutex> guard(m);
        error.seen++; // NORACE
#endif
    }
}

int main() {
    try {
        throw Error();
    } catch (...) {
        kept = std::current_exception(); // NORACE
    }
    std::thread one(work), two(work);
    one.join();
    two.join();
    return 0;
}
