// Memory that other processes have, too.
// Shows: processes: System V communication (`shmget`)
#include <sys/ipc.h>
#include <sys/shm.h>

int main(void) {
    return shmget(IPC_PRIVATE, 4096, 0600) < 0; // REFUSED `shmget`
}
