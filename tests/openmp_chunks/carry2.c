// A number that a thread keeps from one chunk to the next decides where it writes.
static int a[4];
int main(void){
#pragma omp parallel num_threads(2)
{ int c=0;
#pragma omp for schedule(dynamic)
for(int i=0;i<3;i++) { a[i + c*100000000]=1; c = c==1 ? 100 : c+ (i==0); }
} return 0;}
