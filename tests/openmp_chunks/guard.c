// Only one thread crashes, if it gets the iteration.
#include <omp.h>
static int a[4];
int main(void){
#pragma omp parallel num_threads(2)
{ int t=omp_get_thread_num();
#pragma omp for schedule(dynamic)
for(int i=0;i<3;i++) { if(t==1 && i==2) *(volatile int*)0=1; a[i]=1; }
} return 0;}
