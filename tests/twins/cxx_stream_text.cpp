// Reading the text of a string stream while another thread writes to the stream.
#include <sstream>
#include <string>
#include <thread>

int main() {
    std::ostringstream out;
    std::thread writer([&] { out << 12; }); // RACE!
#ifndef RACY
    writer.join();
#endif
    std::string text = out.str(); // RACE!
#ifdef RACY
    writer.join();
#endif
    return text.size() > 5;
}
