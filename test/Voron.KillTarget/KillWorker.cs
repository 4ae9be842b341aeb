namespace Voron.KillTarget;

/// <summary>Works on an environment until the process is killed.</summary>
internal sealed class KillWorker(KillReports reports, int seed)
{
    private readonly Random _random = new(seed);

    public void Run(string directory)
    {
        while (true)
        {
            reports.ReportPhase(KillPhase.Opening);
            using var environment = StorageEnvironment.Open(directory, KillWorkload.Options());
            reports.Report(0);
            var next = KillWorkload.Newest(environment) + 1;
            for (var left = _random.Next(10, 80); left > 0; left--)
                next = Work(environment, next);
            reports.ReportPhase(KillPhase.Closing);
        }
    }

    private long Work(StorageEnvironment environment, long next)
    {
        switch (_random.Next(15))
        {
            case 0:
                reports.ReportPhase(KillPhase.Flushing);
                environment.Flush();
                return next;
            case 1:
                using (environment.BeginRead())
                {
                    next = Commit(environment, next, KillPhase.Committing);
                    reports.ReportPhase(KillPhase.JournalSnapshot);
                    environment.Internals.WriteJournalSnapshot();
                }

                return next;
            case 2:
                reports.ReportPhase(KillPhase.Reclaiming);
                environment.ReclaimSpace();
                return next;
            case < 6:
                return Pipeline(environment, next);
            case 14:
                return Drop(environment, next);
            default:
                return Commit(environment, next, KillWorkload.IsLarge(next) ? KillPhase.Growing : KillPhase.Committing);
        }
    }

    private long Commit(StorageEnvironment environment, long number, KillPhase phase)
    {
        reports.ReportPhase(phase);
        using var writing = environment.BeginWrite();
        KillWorkload.Apply(writing, number);
        writing.Commit();
        reports.Report(number);
        return number + 1;
    }

    private long Drop(StorageEnvironment environment, long next)
    {
        reports.ReportPhase(KillPhase.Committing);
        string name;
        using (var writing = environment.BeginWrite())
        {
            name = KillWorkload.FillDropped(writing, _random);
            writing.Commit();
        }

        reports.ReportPhase(KillPhase.Dropping);
        var drop = environment.DropTreeAsync(name).AsTask();
        for (var commits = _random.Next(4); commits > 0; commits--)
            next = Commit(environment, next, KillPhase.Dropping);
        drop.GetAwaiter().GetResult();
        return next;
    }

    private long Pipeline(StorageEnvironment environment, long next)
    {
        reports.ReportPhase(KillPhase.Pipelining);
        var commits = new Task[KillWorkload.MaxUnderWay];
        for (var i = 0; i < commits.Length; i++)
        {
            using var writing = environment.BeginWrite();
            KillWorkload.Apply(writing, next + i);
            commits[i] = writing.CommitAsync().AsTask();
        }

        foreach (var commit in commits)
        {
            commit.GetAwaiter().GetResult();
            reports.Report(next++);
        }

        return next;
    }
}
