using System.CommandLine;

namespace Voron.Documents.Tool;

/// <summary>Adds and removes indexes.</summary>
internal static class IndexCommand
{
    public static Command Create() => new("index", "Adds and removes indexes on paths such as $.depends[*].")
    {
        Create("add", "Adds an index, and builds it while others read and write.", static async (store, collection, path, stop) =>
            await store.AddIndexAsync(collection, path, progress: null, stop)),
        CreateText(),
        Create("drop", "Removes an index.", static async (store, collection, path, stop) => await store.DropIndexAsync(collection, path, stop)),
    };

    private static Command CreateText()
    {
        var store = new StoreOptions();
        var paths = new Argument<string[]>("paths") { Description = "The paths of the text fields; none to drop the text index.", Arity = ArgumentArity.ZeroOrMore };
        var command = new Command("text", "Makes the text index, for searches, in place of the one before.") { paths };
        store.AddTo(command).SetAction(async (parsed, stop) =>
        {
            using var documents = store.Open(parsed);
            var collection = await documents.SetTextIndexAsync(store.CollectionOf(parsed), parsed.GetValue(paths) ?? [], progress: null, stop);
            Console.WriteLine($"text index: {(collection.Settings.Text is { } text ? string.Join(' ', text.Fields) : "none")}");
            return 0;
        });
        return command;
    }

    private static Command Create(string name, string description, Func<DocumentStore, string, string, CancellationToken, ValueTask<Collection>> change)
    {
        var store = new StoreOptions();
        var path = new Argument<string>("path") { Description = "The path." };
        var command = new Command(name, description) { path };
        store.AddTo(command).SetAction(async (parsed, stop) =>
        {
            using var documents = store.Open(parsed);
            var collection = await change(documents, store.CollectionOf(parsed), parsed.GetValue(path)!, stop);
            Console.WriteLine($"indexes: {(collection.Settings.Indexes.Count == 0 ? "none" : string.Join(' ', collection.Settings.Indexes))}");
            return 0;
        });
        return command;
    }
}
