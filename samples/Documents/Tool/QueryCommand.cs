using System.CommandLine;

namespace Voron.Documents.Tool;

/// <summary>Finds documents.</summary>
internal static class QueryCommand
{
    private const long DefaultTake = 20;

    public static Command Create()
    {
        var store = new StoreOptions();
        var text = new Argument<string>("query") { Description = "Such as: section = \"games\" and size > 5000 order by size desc take 20", DefaultValueFactory = _ => "" };
        var after = new Option<string?>("--after") { Description = "Continues behind a page: the value that it ended with." };
        var ids = new Option<bool>("--ids") { Description = "Prints the ids alone." };
        var explain = new Option<bool>("--explain") { Description = "Says how the documents were found." };
        var command = new Command("query", "Finds documents, and prints them, one a line.") { text, after, ids, explain };
        store.AddTo(command).SetAction(parsed =>
        {
            var query = Query.Parse(parsed.GetValue(text)!);
            if (query.Take == long.MaxValue)
                query = query.First(DefaultTake);
            using var documents = store.Open(parsed);
            var began = System.Diagnostics.Stopwatch.GetTimestamp();
            var result = store.CollectionOf(documents, parsed).Find(query, parsed.GetValue(after));
            var time = System.Diagnostics.Stopwatch.GetElapsedTime(began);
            foreach (var document in result.Documents)
                Console.WriteLine(parsed.GetValue(ids) ? document.Id : document.ToString());
            if (parsed.GetValue(explain))
                Console.Error.WriteLine($"{result.Plan}\n{result.Examined:N0} documents looked at, {result.Documents.Count:N0} found, {time.TotalMilliseconds:N1} ms");
            if (result.Next != null)
                Console.Error.WriteLine($"more: --after {result.Next}");
            return 0;
        });
        return command;
    }
}
