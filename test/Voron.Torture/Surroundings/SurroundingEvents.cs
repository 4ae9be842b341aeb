using System.Diagnostics;
using Voron.Simulation.Harness;

namespace Voron.Torture.Surroundings;

/// <summary>An event that changes an environment's files, with the checks that have to hold afterwards.</summary>
internal sealed record SurroundingEvent(string Name, Action<SurroundedPlace> Happen);

/// <summary>All events.</summary>
internal static class SurroundingEvents
{
    private const string Header = "voron.header";
    private const string UnfinishedHeader = "voron.header.creating";
    private const string Data = "voron.data";

    /// <summary>Eight from openings that were killed, and those that the openings themselves write.</summary>
    private const int MaxLiveFiles = 10;

    /// <summary>The engine confirms the records of a journal that has been idle for about 100 ms.</summary>
    private static readonly TimeSpan LongerThanMarker = TimeSpan.FromMilliseconds(400);

    private static readonly string[] SimilarNames =
    [
        "journal-00000001.voron.bak", "journal-", "journal--0000001.voron", "journal-7.voron", "journal-000000000007.voron",
        "journal-00000000.voron", "journal-99999999999999999999.voron", "journal-0000000x.voron", "journal-00000007.voron.new",
        "journal-000000000003.voron.new", "rewrite-00000001.voron", "rewrite-00000003.voron", "rewrite-000000000004.voron", "rewrite-1.voron",
        "rewrite-notes.txt", "scratch.tmp", "voron.scratch", "voron.lock", "voron.data.old", "voron.data.creating", "voron.header.bak",
        "journal-9223372036854775807.voron.bak", "journal-00000001.voron.NEW", "Journal-00000009.voron",
    ];

    public static IReadOnlyList<SurroundingEvent> All { get; } =
    [
        new("files with similar names", SimilarFiles),
        new("a journal file under another name", RenamedJournal),
        new("the lock file of earlier versions removed", WithoutLockFile),
        new("the header removed", WithoutHeader),
        new("an unfinished header beside a lost one", UnfinishedBesideLost),
        new("the last rename of a creation lost", LostRename),
        new("a second opening through links", SecondOpening),
        new("the header replaced beside a writer", ReplacedHeader),
        new("the directory renamed beside a writer", RenamedDirectory),
        new("a link instead of a file", LinkedFile),
        new("a file cut", CutFile),
        new("readers and writers in turn", ReadersAndWriters),
        new("openings that write nothing, and are killed", IdleOpenings),
        .. RunningEvents.All,
    ];

    private static void SimilarFiles(SurroundedPlace place)
    {
        EndSomehow(place);
        foreach (var name in SimilarNames)
        {
            if (place.Run.Choices.Next(2) == 0)
                place.AddForeign(name);
        }
        place.ShouldHaveAll();
    }

    private static void RenamedJournal(SurroundedPlace place)
    {
        place.Kill();
        var journals = Directory.GetFiles(place.Path, "journal-*.voron");
        var journal = journals.Order(StringComparer.Ordinal).ElementAt(place.Run.Choices.Next(journals.Length));
        var name = place.Run.Choices.Next(4) switch
        {
            0 => Path.GetFileName(journal) + ".new",
            1 => $"journal-{100 + place.Run.Choices.Next(100):D8}.voron.new",
            2 => $"journal-{long.MaxValue - place.Run.Choices.Next(1_000)}.voron",
            _ => $"journal-{1_000_000_000_000 - place.Run.Choices.Next(3)}.voron",
        };
        place.Run.Report($"{Path.GetFileName(journal)} to {name}");
        File.Move(journal, place.FileOf(name));
        place.ShouldHaveAll();
        place.Kill();
        place.ShouldHaveAll();
    }

    private static void WithoutLockFile(SurroundedPlace place)
    {
        File.WriteAllText(place.FileOf("voron.lock"), "4711");
        using (var environment = StorageEnvironment.Open(place.Path, SurroundedPlace.Options(place.Run.Choices.Next(2) == 0)))
        {
            File.Delete(place.FileOf("voron.lock"));
            SurroundedPlace.ShouldBeRefused<EnvironmentInUseException>(place.Path, readOnly: false);
            place.Compare(environment);
        }
        place.ShouldHaveAll();
    }

    private static void WithoutHeader(SurroundedPlace place)
    {
        EndSomehow(place);
        File.Delete(place.FileOf(Header));
        SurroundedPlace.ShouldBeRefused<CorruptionException>(place.Path, place.Run.Choices.Next(2) == 0);
    }

    private static void UnfinishedBesideLost(SurroundedPlace place)
    {
        EndSomehow(place);
        if (place.Run.Choices.Next(2) == 0)
        {
            File.WriteAllBytes(place.FileOf(UnfinishedHeader), new byte[place.Run.Choices.Next(3) * 4096]);
        }
        else
        {
            // The header of another environment, which was never finished.
            var other = place.Beside("other");
            StorageEnvironment.Open(other, SurroundedPlace.Options()).Dispose();
            File.Move(Path.Combine(other, Header), place.FileOf(UnfinishedHeader));
        }
        File.Delete(place.FileOf(Header));
        var before = SurroundedPlace.FilesOf(place.Path);
        try
        {
            StorageEnvironment.Open(place.Path, SurroundedPlace.Options()).Dispose();
            throw new BrokenPromiseException("An environment whose header is lost was opened.");
        }
        catch (VoronException)
        {
            BrokenPromiseException.Require(
                before.SequenceEqual(SurroundedPlace.FilesOf(place.Path), FileComparer.Instance), "An opening without a header has changed files.");
        }
    }

    private static void LostRename(SurroundedPlace place)
    {
        EndSomehow(place);
        File.Move(place.FileOf(Header), place.FileOf(UnfinishedHeader));

        // A read-only opening cannot restore a name.
        SurroundedPlace.ShouldBeRefused<EnvironmentNotFoundException>(place.Path, readOnly: true);
        StorageEnvironment.Open(place.Path, SurroundedPlace.Options()).Dispose();
        place.ShouldHaveAll();
    }

    private static void SecondOpening(SurroundedPlace place)
    {
        var link = place.Beside("link");
        var copy = place.Beside("hard");
        Directory.CreateSymbolicLink(link, place.Path);
        Directory.CreateDirectory(copy);
        foreach (var file in Directory.GetFiles(place.Path))
            HardLink(file, Path.Combine(copy, Path.GetFileName(file)));
        if (place.Run.Choices.Next(2) == 0)
            Replace(Path.Combine(copy, Header));
        using (var environment = StorageEnvironment.Open(place.Path, SurroundedPlace.Options()))
        {
            foreach (var path in new[] { place.Path, link, copy, place.Path + "/../store" })
                SurroundedPlace.ShouldBeRefused<EnvironmentInUseException>(path, place.Run.Choices.Next(2) == 0);
            place.Commit(environment);
        }
        place.ShouldHaveAll();
    }

    private static void ReplacedHeader(SurroundedPlace place)
    {
        using (var environment = StorageEnvironment.Open(place.Path, SurroundedPlace.Options()))
        {
            var name = place.Run.Choices.Next(2) == 0 ? Header : Data;
            Replace(place.FileOf(name));
            List<string> names = [.. Directory.GetFiles(place.Path).Order(StringComparer.Ordinal)];
            try
            {
                // More commits than the existing files have space for.
                for (var i = 0; i < 300; i++)
                    place.Commit(environment, mayFlush: false);
                throw new BrokenPromiseException($"A writer whose {name} was replaced still creates files.");
            }
            catch (VoronException e)
            {
                BrokenPromiseException.Require(e.Message.Contains(name, StringComparison.Ordinal), $"The message does not name {name}: {e.Message}");
            }
            BrokenPromiseException.Require(
                names.SequenceEqual(Directory.GetFiles(place.Path).Order(StringComparer.Ordinal)), "A writer whose header was replaced has changed names.");
        }
    }

    private static void RenamedDirectory(SurroundedPlace place)
    {
        using (var environment = StorageEnvironment.Open(place.Path, SurroundedPlace.Options()))
        {
            var moved = place.Beside("moved");
            Directory.Move(place.Path, moved);
            if (place.Run.Choices.Next(2) == 0)
                Directory.CreateDirectory(place.Path);
            var old = place.Path;
            place.Path = moved;
            for (var i = 0; i < 40; i++)
                place.Commit(environment);
            SurroundedPlace.ShouldBeRefused<EnvironmentInUseException>(moved, readOnly: false);
            BrokenPromiseException.Require(
                !Directory.Exists(old) || Directory.GetFiles(old).Length == 0, "Files were made where the directory had been.");
        }
        place.ShouldHaveAll();
    }

    private static void LinkedFile(SurroundedPlace place)
    {
        EndSomehow(place);
        var files = Directory.GetFiles(place.Path);
        var file = files.Order(StringComparer.Ordinal).ElementAt(place.Run.Choices.Next(files.Length));
        var elsewhere = place.Beside("elsewhere");
        File.Move(file, elsewhere);
        File.CreateSymbolicLink(file, elsewhere);
        SurroundedPlace.ShouldBeRefused<StorageAccessException>(place.Path, place.Run.Choices.Next(2) == 0);
        File.Delete(file);
        File.Move(elsewhere, file);
        place.ShouldHaveAll();
    }

    private static void CutFile(SurroundedPlace place)
    {
        EndSomehow(place);
        var files = Directory.GetFiles(place.Path);
        var file = files.Order(StringComparer.Ordinal).ElementAt(place.Run.Choices.Next(files.Length));
        using (var stream = new FileStream(file, FileMode.Open))
            stream.SetLength(stream.Length * place.Run.Choices.Next(100) / 100);
        try
        {
            place.ShouldHaveAll();
        }
        catch (VoronException)
        {
            place.Run.Tally("cuts that were refused");
        }
    }

    private static void ReadersAndWriters(SurroundedPlace place)
    {
        EndSomehow(place);
        using (var first = StorageEnvironment.Open(place.Path, SurroundedPlace.Options(readOnly: true)))
        using (var second = StorageEnvironment.Open(place.Path, SurroundedPlace.Options(readOnly: true)))
        {
            SurroundedPlace.ShouldBeRefused<EnvironmentInUseException>(place.Path, readOnly: false);
            place.Compare(first);
            place.Compare(second);
        }
        place.ShouldHaveAll();
    }

    private static void IdleOpenings(SurroundedPlace place)
    {
        EndSomehow(place);
        for (var left = 12 + place.Run.Choices.Next(8); left > 0; left--)
            place.KillConfirmed();
        using (var idle = StorageEnvironment.Open(place.Path, SurroundedPlace.Options(background: true)))
        {
            var live = idle.Internals.Engine.JournalFiles!.LiveCount;
            BrokenPromiseException.Require(live <= MaxLiveFiles, $"{live} journal files are live after openings without a transaction.");
            Thread.Sleep(LongerThanMarker);
            var writes = idle.GetStatistics().JournalWrites;
            BrokenPromiseException.Require(writes == 0, $"An opening with nothing to confirm has written {writes} times to the journal.");
            place.Compare(idle);
        }
        place.ShouldHaveAll();
    }

    private static void EndSomehow(SurroundedPlace place)
    {
        if (place.Run.Choices.Next(2) == 0)
            place.Kill();
    }

    private static void Replace(string file)
    {
        var bytes = SurroundedPlace.ReadFile(file);
        File.Delete(file);
        File.WriteAllBytes(file, bytes);
    }

    private static void HardLink(string file, string name)
    {
        using var link = Process.Start("ln", [file, name]);
        link.WaitForExit();
        if (link.ExitCode != 0)
            throw new TortureException($"There is no hard link '{name}'.");
    }

    private sealed class FileComparer : IEqualityComparer<KeyValuePair<string, byte[]>>
    {
        public static readonly FileComparer Instance = new();

        public bool Equals(KeyValuePair<string, byte[]> x, KeyValuePair<string, byte[]> y) =>
            x.Key == y.Key && x.Value.AsSpan().SequenceEqual(y.Value);

        public int GetHashCode(KeyValuePair<string, byte[]> file) => StringComparer.Ordinal.GetHashCode(file.Key);
    }
}
