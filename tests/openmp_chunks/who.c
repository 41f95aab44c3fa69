// Who got a chunk of one loop decides what happens in the next.
#include <omp.h>
static int x[3], got[3]; 
int main(void){
#pragma omp parallel num_threads(2)
{
#pragma omp for schedule(dynamic)
for(int i=0;i<3;i++) got[i]=omp_get_thread_num();
#pragma omp for schedule(dynamic)
for(int i=0;i<3;i++) { int *q = got[i]==got[0] ? x : 0; if (i==2) q[i]=1; }
} return 0;}
