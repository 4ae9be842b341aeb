[assembly: CollectionBehavior(DisableTestParallelization = false, MaxParallelThreads = 2)]
[assembly: Voron.Tests.GuardedMemory]
