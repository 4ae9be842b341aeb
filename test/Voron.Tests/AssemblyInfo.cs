[assembly: CollectionBehavior(DisableTestParallelization = false, MaxParallelThreads = 2)]
