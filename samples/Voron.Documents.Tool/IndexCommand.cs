using System.CommandLine;

namespace Voron.Documents.Tool;

/// <summary>Adds and removes indexes.</summary>
internal static class IndexCommand
{
    public static Command Create() => new("index", "Adds and removes indexes on paths such as $.depends[*].")
    {
        Create("add", "Adds an index, and builds it beside readers and writers.", static async (store, collection, path, stop) =>
            await store.AddIndexAsync(collection, path, progress: null, stop)),
        Create("drop", "Removes an index.", static async (store, collection, path, stop) => await store.DropIndexAsync(collection, path, stop)),
    };

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
