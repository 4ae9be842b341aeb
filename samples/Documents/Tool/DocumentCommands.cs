using System.CommandLine;
using System.Text;
using Voron.Tables;

namespace Voron.Documents.Tool;

/// <summary>Reads, stores and deletes single documents.</summary>
internal static class DocumentCommands
{
    private const int ExitMissing = 1;

    public static Command CreateGet()
    {
        var (store, id) = (new StoreOptions(), IdArgument());
        var attachment = new Option<string?>("--attachment") { Description = "Prints this attachment of the document instead." };
        var version = new Option<bool>("--version-only") { Description = "Prints the version of the document instead." };
        var command = new Command("get", "Prints a document.") { id, attachment, version };
        store.AddTo(command).SetAction(parsed =>
        {
            using var documents = store.Open(parsed);
            var collection = store.CollectionOf(documents, parsed);
            if (parsed.GetValue(attachment) is { } name)
                return AttachmentCommands.Print(collection, parsed.GetValue(id)!, name);
            if (!collection.TryGet(parsed.GetValue(id)!, out var document))
                return Missing(parsed.GetValue(id)!);
            Console.WriteLine(parsed.GetValue(version) ? $"{document.Version}" : document.ToString());
            return 0;
        });
        return command;
    }

    public static Command CreatePut()
    {
        var store = new StoreOptions();
        var json = new Argument<string>("json") { Description = "The document: a JSON object." };
        var id = new Option<string?>("--id") { Description = "The id; otherwise the property 'id' of the document." };
        var expected = Expected();
        var command = new Command("put", "Stores a document, in place of the one with the same id.") { json, id, expected };
        store.AddTo(command).SetAction(async (parsed, stop) =>
        {
            using var documents = store.OpenOrCreate(parsed);
            var collection = await documents.CreateCollectionAsync(store.CollectionOf(parsed), stop);
            var bytes = Encoding.UTF8.GetBytes(parsed.GetValue(json)!);
            Console.WriteLine((await collection.PutAsync(bytes, parsed.GetValue(id), VersionOf(parsed, expected), stop)).Id);
            return 0;
        });
        return command;
    }

    public static Command CreateDelete()
    {
        var (store, id, expected) = (new StoreOptions(), IdArgument(), Expected());
        var command = new Command("delete", "Deletes a document and its attachments.") { id, expected };
        store.AddTo(command).SetAction(async (parsed, stop) =>
        {
            using var documents = store.Open(parsed);
            var collection = store.CollectionOf(documents, parsed);
            return await collection.DeleteAsync(parsed.GetValue(id)!, VersionOf(parsed, expected), stop) ? 0 : Missing(parsed.GetValue(id)!);
        });
        return command;
    }

    private static Option<long?> Expected() => NumberOption.Create(
        "--expect", "The version that the document must have, or else nothing is written; 0 if there must be no document.", 0L);

    private static RowVersion? VersionOf(ParseResult parsed, Option<long?> expected) =>
        parsed.GetValue(expected) is { } version ? new RowVersion(version) : null;

    private static Argument<string> IdArgument() => new("id") { Description = "The id of the document." };

    private static int Missing(string id)
    {
        Console.Error.WriteLine($"There is no document '{id}'.");
        return ExitMissing;
    }
}
