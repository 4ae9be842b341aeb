using System.Diagnostics;
using Voron.KillTarget;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;

namespace Voron.Torture.Surroundings;

/// <summary>Changes that other programs make to the files of an environment that is open and continues to work.</summary>
internal static class RunningEvents
{
    private const int MaxCommits = 300;

    private static readonly string[] CutActions = ["read", "unread", "verify", "flush", "grow", "close"];

    public static IReadOnlyList<SurroundingEvent> All { get; } =
    [
        new("the volume read-only beside a writer", ReadOnlyVolume),
        new("a file made read-only beside a writer", ReadOnlyFile),
        new("the data file cut beside a writer", CutData),
        new("journal files renamed beside a writer", RenamedJournals),
        new("journal files removed beside a writer", RemovedJournals),
    ];

    // Reads continue, commits fail with an engine exception, and every acknowledged commit is present when the volume is back.
    private static void ReadOnlyVolume(SurroundedPlace place)
    {
        using var volume = LoopVolume.TryMake(place.Beside("image"), place.Beside("volume"), out var reason);
        if (volume is null)
        {
            place.Run.Tally($"read-only volumes, not run: {reason}");
            return;
        }
        var store = Path.Combine(volume.Path, "store");
        place.CopyTo(store);
        place.Path = store;
        using (var environment = StorageEnvironment.Open(place.Path, SurroundedPlace.Options()))
        {
            place.Commit(environment);
            BrokenPromiseException.Require(!volume.TryMakeReadOnly(), "The system makes a volume read-only under files that are open for writing.");
            for (var left = place.Run.Choices.Next(10); left > 0; left--)
                place.Commit(environment);
            volume.Abort();
            ShouldRefuseCommits(place, environment);
            place.Compare(environment);
        }
        volume.MountAgain();
        place.ShouldHaveAll();
    }

    private static void ReadOnlyFile(SurroundedPlace place)
    {
        string file;
        bool isImmutable;
        using (var environment = StorageEnvironment.Open(place.Path, SurroundedPlace.Options()))
        {
            place.Commit(environment);
            var files = Directory.GetFiles(place.Path);
            file = files.Order(StringComparer.Ordinal).ElementAt(place.Run.Choices.Next(files.Length));
            place.Run.Report(Path.GetFileName(file));
            ChangeMode(file, "0400");

            // The mode prevents neither root nor an open file from writing; this attribute does.
            isImmutable = LoopVolume.TryRun(out var reason, "chattr", "+i", file);
            if (!isImmutable)
                place.Run.Tally($"files made immutable, not run: {(Environment.IsPrivilegedProcess ? reason : "not root")}");
            try
            {
                for (var i = 0; i < 60; i++)
                    place.Commit(environment);
                environment.Flush();
            }
            catch (VoronException e)
            {
                place.Run.Tally($"writers of a read-only file that got {e.GetType().Name}");
            }
            place.Compare(environment);
        }
        if (isImmutable && !LoopVolume.TryRun(out var kept, "chattr", "-i", file))
            throw new TortureException($"'{file}' stays immutable: {kept}");
        if (File.Exists(file))
            ChangeMode(file, "0600");
        place.ShouldHaveAll();
    }

    // An access to a mapped page that is gone ends the process. Everything else is an exception, and no checkpoint refers to the missing part.
    private static void CutData(SurroundedPlace place)
    {
        var store = place.Beside("cut");
        var what = CutActions[place.Run.Choices.Next(CutActions.Length)];
        var start = ChildProgram.Of(typeof(CutFile).Assembly);
        start.ArgumentList.Add("cut");
        start.ArgumentList.Add(store);
        start.ArgumentList.Add(what);
        if (AppContext.GetData("Voron.PlantedFault") is string fault)
            start.Environment[KillWorkload.FaultVariable] = fault;
        start.Environment["DOTNET_DbgEnableMiniDump"] = "0";
        using var process = Process.Start(start) ?? throw new TortureException("The process that works on a cut file cannot be started.");
        var errors = process.StandardError.ReadToEndAsync();
        if (process.StandardOutput.ReadLine() is var line && line != CutFile.Ready)
            throw new TortureException($"The process that works on a cut file said '{line}': {errors.Result}");
        long percent = place.Run.Choices.Next(100);
        using (var file = new FileStream(Path.Combine(store, CutFile.Data), FileMode.Open, FileAccess.Write, FileShare.ReadWrite))
            file.SetLength(file.Length * percent / 100 / 4096 * 4096);
        process.StandardInput.WriteLine();
        process.StandardInput.Flush();
        var end = process.StandardOutput.ReadLine();
        process.WaitForExit();
        place.Run.Report($"{what} after a cut to {percent}%: {end ?? $"ended with {process.ExitCode}"}");
        place.Run.Tally($"cut beside a process that would {what}: {end?.Split(':')[0] ?? $"exit code {process.ExitCode}"}");
        if (what is "flush")
        {
            BrokenPromiseException.Require(
                end?.StartsWith(nameof(EnvironmentPoisonedException), StringComparison.Ordinal) == true
                && end.Contains("has been cut short", StringComparison.Ordinal),
                $"A flush to a file that was cut to {percent}% ended so: {end ?? $"exit code {process.ExitCode}"}");
        }
        if (what is "verify" or "unread")
            BrokenPromiseException.Require(end is not null, $"A process that would {what} ended with exit code {process.ExitCode}.");
        if (what is "grow")
            BrokenPromiseException.Require(end != "done", "A file that was cut has grown as if it had not been.");

        // Every acknowledged commit is present, or the opening reports that it is not.
        try
        {
            using var environment = StorageEnvironment.Open(store, SurroundedPlace.Options());
            CutFile.Read(environment, what is "flush" or "close" ? 1 : 0);
        }
        catch (CorruptionException)
        {
            place.Run.Tally("cuts beside a writer that were refused");
        }
        catch (InvalidOperationException e)
        {
            throw new BrokenPromiseException($"{what} after a cut to {percent}%: {e.Message}", e);
        }
    }

    // Writes go to the files, whatever their names. Under their original names again, everything is present.
    private static void RenamedJournals(SurroundedPlace place)
    {
        var renamed = new List<(string From, string To)>();
        using (var environment = StorageEnvironment.Open(place.Path, SurroundedPlace.Options()))
        {
            place.Commit(environment);
            foreach (var journal in ChooseJournals(place))
            {
                var other = journal + ".away";
                File.Move(journal, other);
                renamed.Add((journal, other));
            }
            CommitWhilePossible(place, environment);
            place.Compare(environment);
            if (place.Run.Choices.Next(2) == 0)
            {
                var killed = place.Beside("killed-renamed");
                place.CopyTo(killed);
                place.Path = killed;
            }
        }
        foreach ((var from, var to) in renamed)
        {
            var name = place.FileOf(Path.GetFileName(from));
            BrokenPromiseException.Require(!File.Exists(name), $"'{name}' was renamed beside a writer, which created another of that name.");
            File.Move(place.FileOf(Path.GetFileName(to)), name);
        }
        place.ShouldHaveAll();
    }

    // Commits in the removed files cannot be found by a later opening: it finds an earlier state, or is refused.
    private static void RemovedJournals(SurroundedPlace place)
    {
        using (var environment = StorageEnvironment.Open(place.Path, SurroundedPlace.Options()))
        {
            place.Remember();
            place.Commit(environment);
            foreach (var journal in ChooseJournals(place))
                File.Delete(journal);
            CommitWhilePossible(place, environment);
            place.Compare(environment);
            if (place.Run.Choices.Next(2) == 0)
            {
                var killed = place.Beside("killed-removed");
                place.CopyTo(killed);
                place.Path = killed;
            }
        }
        var missing = place.ShouldHaveSome();
        var found = missing < 0 ? "refused" : missing == 0 ? "all is found" : "an earlier state";
        place.Run.Tally($"removed journals: {found}");
    }

    private static void ChangeMode(string file, string mode)
    {
        if (!LoopVolume.TryRun(out var reason, "chmod", mode, file))
            throw new TortureException($"The mode of '{file}' cannot be changed: {reason}");
    }

    private static string[] ChooseJournals(SurroundedPlace place)
    {
        string[] journals = [.. Directory.GetFiles(place.Path, "journal-*.voron").Order(StringComparer.Ordinal)];
        if (place.Run.Choices.Next(2) == 0)
            return journals;
        return [journals[place.Run.Choices.Next(journals.Length)]];
    }

    private static void CommitWhilePossible(SurroundedPlace place, StorageEnvironment environment)
    {
        try
        {
            for (var left = place.Run.Choices.Next(60); left > 0; left--)
                place.Commit(environment);
        }
        catch (VoronException e)
        {
            place.Run.Tally($"writers without their journal files that got {e.GetType().Name}");
        }
    }

    private static void ShouldRefuseCommits(SurroundedPlace place, StorageEnvironment environment)
    {
        try
        {
            for (var i = 0; i < MaxCommits; i++)
                place.Commit(environment, mayFlush: false);
            throw new BrokenPromiseException("A volume that is read-only takes commits.");
        }
        catch (VoronException e)
        {
            place.Run.Tally($"writers on a read-only volume that got {e.GetType().Name}");
        }
    }
}
