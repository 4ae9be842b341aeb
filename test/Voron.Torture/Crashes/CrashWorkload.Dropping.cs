using System.Diagnostics;

namespace Voron.Torture.Crashes;

/// <content>Trees dropped in steps.</content>
internal sealed partial class CrashWorkload
{
    private static readonly TimeSpan DropLimit = TimeSpan.FromMinutes(2);

    /// <summary>Makes trees grow, and drops them in steps.</summary>
    public bool Drops { get; init; }

    /// <summary>Frees what is left of dropped trees, and checks that there is nothing left.</summary>
    /// <returns>False if nothing was left.</returns>
    public static bool FreeDropped(StorageEnvironment environment)
    {
        if (!HasDropped(environment))
            return false;
        environment.Internals.Dropper!.Resume();
        AwaitDropper(environment);
        if (HasDropped(environment))
            throw new CrashViolationException("A dropped tree keeps pages after all that was left of it should be free.");
        ContentCheck.Verify(environment);
        return true;
    }

    private static bool HasDropped(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        return reading.GetDroppedTrees().Count > 0;
    }

    // The last transaction of a run finds nothing and is rolled back. The workload continues when it has ended, so that the trace depends on the
    // choices alone.
    private static void AwaitDropper(StorageEnvironment environment)
    {
        for (var begun = Stopwatch.GetTimestamp(); environment.Internals.Dropper!.IsRunning; Thread.Yield())
        {
            if (Stopwatch.GetElapsedTime(begun) > DropLimit)
                throw new CrashViolationException("The pages of dropped trees are being freed for ever.");
        }
    }

    private void StepOfDropping()
    {
        if (_random.Next(3) == 0)
        {
            _run.Report("commit that makes a tree grow");
            Commit(writing => _random.Next(5) switch
            {
                4 => writing.GrowValueSets(),
                3 => writing.GrowFixed(),
                2 => writing.GrowIds(),
                _ => writing.Grow(),
            });
            return;
        }

        var name = ModelTransaction.DrawName(_random);
        _run.Report($"drop {name}");
        if (_random.Next(3) == 2)
            _readers.Begin(_environment!, Newest);
        var isThere = Newest.Has(name);
        if (isThere)
        {
            Submit(Newest.Without(name));
            _counts.Drops++;
        }

        if (_environment!.DropTreeAsync(name).AsTask().GetAwaiter().GetResult() != isThere)
            throw new CrashViolationException($"Dropping {name} says {!isThere}.");
        AwaitDropper(_environment!);
        if (isThere)
            Acknowledge();
        ContentCheck.Check(_environment!, [Newest]);

        // After an opening, only the drop of a tree continues with what is left of others: there is no background.
        if (isThere && HasDropped(_environment!))
            throw new CrashViolationException($"The drop of {name} has returned, and a dropped tree keeps pages.");
        _readers.Check();
    }
}
