[assembly: Xunit.v3.Parallelization(MaxThreads = 3)]
[assembly: Voron.Tests.GuardedMemory]
