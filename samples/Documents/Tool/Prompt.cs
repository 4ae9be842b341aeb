using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Spectre.Console;

namespace Voron.Documents.Tool;

/// <summary>Answers lines, each a command or a query. An error ends a line, not the prompt.</summary>
/// <param name="store">The store.</param>
/// <param name="collection">The name of the collection with which it begins.</param>
/// <param name="console">Where the answers go.</param>
internal sealed class Prompt(DocumentStore store, string collection, IAnsiConsole console)
{
    private const int PageLength = 20;
    private const int MaxColumns = 6;
    private const int MaxCell = 60;

    private const string Help = """
        QUERY, or query QUERY   such as: section = "games" and size > 5000 order by size desc
        search WORDS            such as: haskell "web server" -test
        next                    the next page
        get ID                  prints a document
        put JSON                stores a document, whose property 'id' is its id
        delete ID               deletes a document and its attachments
        index                   lists the indexes; index add PATH, index drop PATH and index text PATH... change them
        use COLLECTION          goes to another collection, and creates it if there is none
        stats                   the collections with their sizes
        explain on, off         says how documents were found, or no more
        help, exit
        """;

    private string _collection = collection;
    private bool _explains;
    private Query? _query;
    private string? _next;

    /// <summary>True if a line could not be answered.</summary>
    public bool HasFailed { get; private set; }

    /// <summary>The text before a line that is to be typed.</summary>
    public string Sign => $"{_collection}> ";

    /// <summary>Answers a line; false if it was the last one.</summary>
    public async Task<bool> AnswerAsync(string line, CancellationToken stop)
    {
        var (word, rest) = Split(line);
        try
        {
            switch (word)
            {
                case "":
                    break;
                case "exit" or "quit" when rest.Length == 0:
                    return false;
                case "help" when rest.Length == 0:
                    console.WriteLine(Help);
                    break;
                default:
                    await AnswerAsync(word, rest, line, stop);
                    break;
            }
        }
        catch (Exception e) when (e is QueryException or DocumentFormatException or KeyNotFoundException or ArgumentException or VoronException)
        {
            Fail(e.Message);
        }

        return true;
    }

    private async Task AnswerAsync(string word, string rest, string line, CancellationToken stop)
    {
        switch (word)
        {
            case "next" when rest.Length == 0:
                ShowNext();
                break;
            case "search":
                Search(rest);
                break;
            case "get":
                if (Current().TryGet(rest, out var document))
                    console.WriteLine(document.ToString());
                else
                    Fail($"There is no document '{rest}'.");
                break;
            case "put":
                var target = await store.CreateCollectionAsync(_collection, stop);
                console.WriteLine($"stored: {(await target.PutAsync(Encoding.UTF8.GetBytes(rest), cancellationToken: stop)).Id}");
                break;
            case "delete":
                if (await Current().DeleteAsync(rest, cancellationToken: stop))
                    console.WriteLine($"deleted: {rest}");
                else
                    Fail($"There is no document '{rest}'.");
                break;
            case "index":
                await ChangeIndexAsync(rest, stop);
                break;
            case "use":
                _collection = (await store.CreateCollectionAsync(rest, stop)).Settings.Name;
                _query = null;
                break;
            case "stats" when rest.Length == 0:
                StatsCommand.Show(store, console);
                break;
            case "explain" when rest is "on" or "off":
                _explains = rest == "on";
                break;
            default:
                Show(Query.Parse(word == "query" ? rest : line), null);
                break;
        }
    }

    private void Fail(string message)
    {
        HasFailed = true;
        console.WriteLine(message);
    }

    private static (string Word, string Tail) Split(string line)
    {
        var text = line.Trim();
        var space = text.IndexOf(' ', StringComparison.Ordinal);
        return space < 0 ? (text, "") : (text[..space], text[(space + 1)..].Trim());
    }

    private Collection Current() => store.GetCollection(_collection);

    private async Task ChangeIndexAsync(string rest, CancellationToken stop)
    {
        var (change, path) = Split(rest);
        if (change == "add")
            await store.AddIndexAsync(_collection, path, cancellationToken: stop);
        else if (change == "drop")
            await store.DropIndexAsync(_collection, path, stop);
        else if (change == "text")
            await store.SetTextIndexAsync(_collection, path.Split(' ', StringSplitOptions.RemoveEmptyEntries), cancellationToken: stop);
        else if (change.Length > 0)
            throw new ArgumentException($"'index {rest}' is no command: 'index', 'index add PATH', 'index drop PATH' or 'index text PATH...'.");
        var settings = Current().Settings;
        console.WriteLine($"indexes: {(settings.Indexes.Count == 0 ? "none" : string.Join(' ', settings.Indexes))}");
        if (settings.Text is { } text)
            console.WriteLine($"text index: {string.Join(' ', text.Fields)}");
    }

    private void Search(string text)
    {
        var began = Stopwatch.GetTimestamp();
        var result = Current().Search(text, PageLength);
        var time = Stopwatch.GetElapsedTime(began);
        (_query, _next) = (null, null);
        if (result.Hits.Count > 0)
            console.Write(ToTable([.. result.Hits.Select(static hit => hit.Document)]));
        if (_explains)
            console.WriteLine($"{result.Plan}; {time.TotalMilliseconds.ToString("F1", CultureInfo.InvariantCulture)} ms");
        console.WriteLine($"{result.Matches} found{(result.Matches > result.Hits.Count ? $", the best {result.Hits.Count} shown" : "")}");
    }

    private void ShowNext()
    {
        if (_query == null || _next == null)
            console.WriteLine("There is no next page.");
        else
            Show(_query, _next);
    }

    private void Show(Query query, string? after)
    {
        var page = query.Take == long.MaxValue ? query.First(PageLength) : query;
        var began = Stopwatch.GetTimestamp();
        var result = Current().Find(page, after);
        var time = Stopwatch.GetElapsedTime(began);
        (_query, _next) = (query, result.Next);
        if (result.Documents.Count > 0)
            console.Write(ToTable(result.Documents));
        if (_explains)
            console.WriteLine($"{result.Plan}; {result.Examined} looked at in {time.TotalMilliseconds.ToString("F1", CultureInfo.InvariantCulture)} ms");
        console.WriteLine($"{result.Documents.Count} found{(_next == null ? "" : ", and there may be more: next")}");
    }

    // The properties that come first in the documents are the columns.
    private static Table ToTable(IReadOnlyList<Document> documents)
    {
        var rows = documents.Select(document => JsonDocument.Parse(document.Json)).ToList();
        var columns = rows.SelectMany(row => row.RootElement.EnumerateObject().Select(property => property.Name))
            .Where(name => name != "id").Distinct().Take(MaxColumns - 1).ToList();
        var table = new Table().AddColumn("id");
        foreach (var column in columns)
            table.AddColumn(Markup.Escape(column));
        foreach (var (row, document) in rows.Zip(documents))
        {
            var cells = columns.Select(column => row.RootElement.TryGetProperty(column, out var value) ? Shorten(value.ToString()) : "");
            table.AddRow([Markup.Escape(document.Id), .. cells.Select(Markup.Escape)]);
            row.Dispose();
        }

        return table;
    }

    private static string Shorten(string text) => text.Length <= MaxCell ? text : text[..(MaxCell - 1)] + "…";
}
