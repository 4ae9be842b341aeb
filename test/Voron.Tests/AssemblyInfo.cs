[assembly: CollectionBehavior(DisableTestParallelization = false, MaxParallelThreads = 3)]
[assembly: Voron.Tests.GuardedMemory]
