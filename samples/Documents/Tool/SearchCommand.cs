using System.CommandLine;
using System.Diagnostics;

namespace Voron.Documents.Tool;

/// <summary>Searches for words.</summary>
internal static class SearchCommand
{
    private const int DefaultTake = 10;

    public static Command Create()
    {
        var store = new StoreOptions();
        var text = new Argument<string>("text") { Description = "Such as: haskell \"web server\" -test" };
        var take = NumberOption.Create("--take", $"The number of documents wanted, {DefaultTake} unless given.", 1);
        var ids = new Option<bool>("--ids") { Description = "Prints scores and ids alone." };
        var explain = new Option<bool>("--explain") { Description = "Says how the documents were found." };
        var command = new Command("search", "Finds the documents that fit words and phrases best, and prints them, one a line.") { text, take, ids, explain };
        store.AddTo(command).SetAction(parsed =>
        {
            using var documents = store.Open(parsed);
            var collection = store.CollectionOf(documents, parsed);
            var began = Stopwatch.GetTimestamp();
            var result = collection.Search(parsed.GetValue(text)!, parsed.GetValue(take) ?? DefaultTake);
            var time = Stopwatch.GetElapsedTime(began);
            foreach (var (document, score) in result.Hits)
                Console.WriteLine(parsed.GetValue(ids) ? FormattableString.Invariant($"{score:F3} {document.Id}") : document.ToString());
            if (parsed.GetValue(explain))
                Console.Error.WriteLine($"{result.Plan}\n{result.Matches:N0} documents have the words, {result.Hits.Count:N0} shown, {time.TotalMilliseconds:N1} ms");
            return 0;
        });
        return command;
    }
}
