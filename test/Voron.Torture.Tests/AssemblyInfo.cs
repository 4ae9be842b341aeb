[assembly: Xunit.v3.Parallelization(MaxThreads = 2)]
[assembly: Voron.Tests.GuardedMemory]
[assembly: TestCollectionOrderer(typeof(Voron.Torture.Tests.LongestFirst))]
