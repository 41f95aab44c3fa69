// std::call_once and static local variables initialise once.
#include <mutex>
#include <thread>

static std::once_flag flag;
static int value;

static int &instance() {
    static int made = 3; // NORACE
    return made;
}

static void use() {
#ifdef RACY
    if (value == 0) // RACE!
        value = instance(); // RACE!
#else
    std::call_once(flag, [] { value = instance(); });
#endif
}

int main() {
    std::thread worker(use);
    use();
    worker.join();
    return value != 3;
}
