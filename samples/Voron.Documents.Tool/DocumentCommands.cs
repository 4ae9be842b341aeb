using System.CommandLine;
using System.Text;

namespace Voron.Documents.Tool;

/// <summary>Reads, stores and deletes single documents.</summary>
internal static class DocumentCommands
{
    private const int ExitMissing = 1;

    public static Command CreateGet()
    {
        var (store, id) = (new StoreOptions(), IdArgument());
        var command = new Command("get", "Prints a document.") { id };
        store.AddTo(command).SetAction(parsed =>
        {
            using var documents = store.Open(parsed);
            if (!documents.GetCollection(store.CollectionOf(parsed)).TryGet(parsed.GetValue(id)!, out var document))
                return Missing(parsed.GetValue(id)!);
            Console.WriteLine(document);
            return 0;
        });
        return command;
    }

    public static Command CreatePut()
    {
        var store = new StoreOptions();
        var json = new Argument<string>("json") { Description = "The document: a JSON object." };
        var id = new Option<string?>("--id") { Description = "The id; otherwise the property 'id' of the document." };
        var command = new Command("put", "Stores a document, in place of the one with the same id.") { json, id };
        store.AddTo(command).SetAction(async (parsed, stop) =>
        {
            using var documents = store.Open(parsed);
            var collection = await documents.CreateCollectionAsync(store.CollectionOf(parsed), stop);
            Console.WriteLine(collection.Put(Encoding.UTF8.GetBytes(parsed.GetValue(json)!), parsed.GetValue(id)));
            return 0;
        });
        return command;
    }

    public static Command CreateDelete()
    {
        var (store, id) = (new StoreOptions(), IdArgument());
        var command = new Command("delete", "Deletes a document.") { id };
        store.AddTo(command).SetAction(parsed =>
        {
            using var documents = store.Open(parsed);
            return documents.GetCollection(store.CollectionOf(parsed)).Delete(parsed.GetValue(id)!) ? 0 : Missing(parsed.GetValue(id)!);
        });
        return command;
    }

    private static Argument<string> IdArgument() => new("id") { Description = "The id of the document." };

    private static int Missing(string id)
    {
        Console.Error.WriteLine($"There is no document '{id}'.");
        return ExitMissing;
    }
}
