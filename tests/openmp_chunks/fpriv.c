// A private copy that a thread changes in each chunk.
static int x;
int main(void){ int *q=&x; int k=0;
#pragma omp parallel num_threads(2) firstprivate(q,k)
{
#pragma omp for schedule(dynamic)
for(int i=0;i<3;i++) { if (k++ == 2) q=0;
#pragma omp atomic
 *q+=i; }
} return 0;}
