/* Two ways to count from several threads. */
void count_unlocked(void);
void count_locked(void);
int counted(void);
