// A counter that a thread keeps from one chunk to the next decides how often it goes round.
static int a[64];
int main(void){
#pragma omp parallel num_threads(2)
{ int j=0;
#pragma omp for schedule(dynamic)
for(int i=0;i<3;i++) { for(; j<20+20*i; j++) a[(j%21)*i*1000000]=1; }
} return 0;}
