using System.CommandLine;
using Spectre.Console;

namespace Voron.Documents.Tool.Compare;

/// <summary>Compares the store with SQLite, and prints the goals with their verdicts.</summary>
internal static class CompareCommand
{
    private const int ExitFailure = 1;
    private const string Sqlite = "SQLite";
    private const string Compressed = ", compressed";
    private const string Queued = "SQLite behind a queue";

    public static Command Create()
    {
        var rounds = new Option<int>("--rounds") { Description = "The number of rounds, of which the medians count.", DefaultValueFactory = _ => 5 };
        var generate = new Option<int?>("--generate") { Description = "Makes that many documents instead of reading the packages that apt knows." };
        var puts = new Option<int>("--puts") { Description = "The number of documents that the 64 callers store.", DefaultValueFactory = _ => 12_800 };
        var directory = new Option<string>("--directory") { Description = "Where the stores are made, and deleted.", DefaultValueFactory = _ => Directory.GetCurrentDirectory() };
        var command = new Command("compare", "Compares the store with SQLite (JSONB, indexes on expressions, FTS5), and prints the goals with their verdicts.")
        {
            rounds, generate, puts, directory,
        };
        command.SetAction(async (parsed, stop) =>
        {
            var source = parsed.GetValue(generate) is { } count ? GeneratedDocuments.Of(Math.Max(1000, count), seed: 1) : AptPackages.Of();
            var documents = Distinct(source.Read(static _ => { }, stop), out var leftOut);
            var workload = new Workload(documents, parsed.GetValue(puts));
            Console.Error.WriteLine($"{documents.Count:N0} documents, {documents.Sum(static document => (long)document.Json.Length):N0} bytes of JSON, in {parsed.GetValue(directory)}");
            Console.Error.WriteLine($"{leftOut:N0} left out: another version of a package, or with symbols that FTS5 takes for letters");
            return await RunAsync(workload, Math.Max(1, parsed.GetValue(rounds)), parsed.GetValue(directory)!, stop);
        });
        return command;
    }

    // Of packages in several versions, the first one. FTS5 takes some symbols that JSON escapes as two halves for letters, and then counts a word more.
    private static List<ImportedDocument> Distinct(IEnumerable<ImportedDocument> documents, out int leftOut)
    {
        var ids = new HashSet<string>(StringComparer.Ordinal);
        var kept = new List<ImportedDocument>();
        leftOut = 0;
        foreach (var document in documents)
        {
            if (document.Json.Span.IndexOf("\\uD"u8) < 0 && ids.Add(document.Id!))
                kept.Add(document);
            else
                leftOut++;
        }

        return kept;
    }

    private static async Task<int> RunAsync(Workload workload, int rounds, string directory, CancellationToken stop)
    {
        var (ours, theirs, queued, compressed) = (new List<Measurement>(), new List<Measurement>(), new List<Measurement>(), new List<Measurement>());
        for (var round = 1; round <= rounds; round++)
        {
            stop.ThrowIfCancellationRequested();
            var place = Path.Combine(directory, $"voron-compare-{Guid.NewGuid():N}");
            try
            {
                // Each store is the first one in every other round, so that the writes of the one before disturb both.
                if (round % 2 == 0)
                    theirs.Add(Run(new SqliteStore(Path.Combine(place, "sqlite")), workload));
                ours.Add(Run(await VoronStore.CreateAsync(Path.Combine(place, "voron"), ValueCompression.None, stop), workload));
                if (round % 2 != 0)
                    theirs.Add(Run(new SqliteStore(Path.Combine(place, "sqlite")), workload));
                using (var store = new QueuedSqliteStore(Path.Combine(place, "queued")))
                    queued.Add(Measurement.RunCallers(store, workload));
                using (var store = await VoronStore.CreateAsync(Path.Combine(place, "compressed"), ValueCompression.Thorough, stop))
                    compressed.Add(Measurement.Run(store, workload));
            }
            finally
            {
                Directory.Delete(place, recursive: true);
            }

            if ((ours[^1].DifferenceFrom(theirs[^1]) ?? compressed[^1].DifferenceFrom(theirs[^1])) is { } what)
            {
                Console.Error.WriteLine($"The stores have answered differently in round {round}, in '{what}': nothing is compared.");
                return ExitFailure;
            }

            Console.Error.WriteLine($"round {round} of {rounds}: the answers are the same");
        }

        Write(ours, theirs, queued, compressed);
        return 0;
    }

    private static Measurement Run(IComparedStore store, Workload workload)
    {
        using (store)
            return Measurement.Run(store, workload);
    }

    private static void Write(List<Measurement> ours, List<Measurement> theirs, List<Measurement> queued, List<Measurement> compressed)
    {
        var board = new Scoreboard();
        board.AddRate(Measures.Import, ours, Sqlite, theirs, 2);
        board.AddRate(Measures.Callers, ours, Sqlite, theirs, 10);
        board.AddRate(Measures.Callers, ours, Queued, queued, 2);
        board.AddTime(Measures.SearchMedian, ours, Sqlite, theirs, 5);
        board.AddTime(Measures.SearchTail, ours, Sqlite, theirs, 5);
        board.AddSize(Measures.Size, ours, Sqlite, theirs, 1);
        board.AddSize(Measures.Size, compressed, Sqlite, theirs, 0.6, Compressed);
        board.AddRate(Measures.Read, ours, Sqlite, theirs, null);
        board.AddRate(Measures.Range, ours, Sqlite, theirs, null);
        board.AddRate(Measures.Import, compressed, Sqlite, theirs, null, Compressed);
        board.AddRate(Measures.Read, compressed, Sqlite, theirs, null, Compressed);
        board.AddRate(Measures.Callers, compressed, Sqlite, theirs, null, Compressed);
        board.Write(AnsiConsole.Console);
        Console.WriteLine(board.IsMet ? "all goals are met" : "not all goals are met");
    }
}
