// The file system shape of Flanagan and Godefroid (POPL 2005): each thread gives a block to an inode that has none, with a
// lock for each inode and each block. With up to 13 threads nothing collides.
#include <pthread.h>

#ifndef THREADS
#define THREADS 18
#endif
#define INODES 32
#define BLOCKS 26

static pthread_mutex_t inode_locks[INODES], block_locks[BLOCKS];
static int block_of[INODES], busy[BLOCKS]; // NORACE

static void *allocate(void *number) {
    int inode = (int)(long)number % INODES;
    pthread_mutex_lock(&inode_locks[inode]);
    for (int block = inode * 2 % BLOCKS; !block_of[inode]; block = (block + 1) % BLOCKS) {
        pthread_mutex_lock(&block_locks[block]);
        if (!busy[block]) {
            busy[block] = 1;
            block_of[inode] = block + 1;
        }
        pthread_mutex_unlock(&block_locks[block]);
    }
    pthread_mutex_unlock(&inode_locks[inode]);
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < INODES; i++) pthread_mutex_init(&inode_locks[i], 0);
    for (int i = 0; i < BLOCKS; i++) pthread_mutex_init(&block_locks[i], 0);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, allocate, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    return 0;
}
