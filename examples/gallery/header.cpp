// $ raceproof check header.cpp --quick
// The racing lines are in a header of the C++ library. The report shows the lines that call it.
#include <memory>
#include <thread>

static std::unique_ptr<int> best;

static void publish(int n) { best.reset(new int(n)); }

static int look() { return best ? *best : 0; }

int main() {
    std::thread writer(publish, 7);
    int seen = look();
    writer.join();
    return seen > 7;
}
