// A thread-local pointer, changed in an iteration.
static int x[3]; static _Thread_local int *q=x; 
int main(void){
#pragma omp parallel num_threads(2)
{
#pragma omp for schedule(dynamic)
for(int i=0;i<3;i++) { q[i]=1; if(i==0) q=0; }
} return 0;}
