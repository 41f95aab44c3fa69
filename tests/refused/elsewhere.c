// A server that is not this program.
// Shows: the network: other machines
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

int main(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(80)};
    inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
    int end = socket(AF_INET, SOCK_STREAM, 0);
    return connect(end, (struct sockaddr *)&address, sizeof address) == 0; // REFUSED an address of the network
}
