// Two threads look at the state of a stream; in the racy twin one of them clears it.
#include <sstream>
#include <thread>

int main() {
    std::istringstream in("1");
    bool one = false, other = false;
    std::thread thread([&] { one = in.good(); }); // RACE!
#ifdef RACY
    in.clear(); // RACE!
#endif
    other = in.good();
    thread.join();
    return one != other;
}
