using System.CommandLine;

namespace Voron.Documents.Tool;

/// <summary>Stores, lists and deletes files that belong to documents. <c>get --attachment</c> reads one.</summary>
internal static class AttachmentCommands
{
    private const int ExitMissing = 1;

    public static Command CreateAttach()
    {
        var (store, id) = (new StoreOptions(), IdArgument());
        var file = new Argument<string>("file") { Description = "The file; - is the standard input." };
        var name = new Option<string?>("--name") { Description = "The name of the attachment; otherwise that of the file." };
        var type = new Option<string?>("--type") { Description = "The type of its content, such as image/png." };
        var command = new Command("attach", "Stores a file as an attachment of a document.") { id, file, name, type };
        store.AddTo(command).SetAction(async (parsed, stop) =>
        {
            var path = parsed.GetValue(file)!;
            var attachmentName = parsed.GetValue(name) ?? (path == "-" ? null : Path.GetFileName(path))
                ?? throw new ImportException("The standard input has no name: give the attachment one with --name.");
            if (path != "-")
                ImportSource.LengthOf(path);
            using var documents = store.Open(parsed);
            await using var source = path == "-" ? Console.OpenStandardInput() : File.OpenRead(path);
            var collection = store.CollectionOf(documents, parsed);
            var attachment = await collection.PutAttachmentAsync(parsed.GetValue(id)!, attachmentName, source, parsed.GetValue(type), stop);
            Console.WriteLine($"{attachment.Name} {attachment.Length}");
            return 0;
        });
        return command;
    }

    public static Command CreateList()
    {
        var (store, id) = (new StoreOptions(), IdArgument());
        var command = new Command("attachments", "Lists the attachments of a document: name, bytes, type.") { id };
        store.AddTo(command).SetAction(parsed =>
        {
            using var documents = store.Open(parsed);
            var collection = store.CollectionOf(documents, parsed);
            var attachments = collection.GetAttachments(parsed.GetValue(id)!);
            if (attachments.Count == 0 && !collection.TryGet(parsed.GetValue(id)!, out _))
                throw new KeyNotFoundException($"There is no document '{parsed.GetValue(id)}'.");
            foreach (var attachment in attachments)
                Console.WriteLine($"{attachment.Name} {attachment.Length} {attachment.ContentType}");
            return 0;
        });
        return command;
    }

    public static Command CreateDetach()
    {
        var (store, id) = (new StoreOptions(), IdArgument());
        var name = new Argument<string>("name") { Description = "The name of the attachment." };
        var command = new Command("detach", "Deletes an attachment of a document.") { id, name };
        store.AddTo(command).SetAction(async (parsed, stop) =>
        {
            using var documents = store.Open(parsed);
            var collection = store.CollectionOf(documents, parsed);
            return await collection.DeleteAttachmentAsync(parsed.GetValue(id)!, parsed.GetValue(name)!, stop)
                ? 0
                : Missing(parsed.GetValue(id)!, parsed.GetValue(name)!);
        });
        return command;
    }

    /// <summary>Writes the content of an attachment to the standard output.</summary>
    public static int Print(Collection collection, string id, string name)
    {
        using var content = collection.OpenAttachment(id, name);
        if (content == null)
            return Missing(id, name);
        using var output = Console.OpenStandardOutput();
        content.Stream.CopyTo(output);
        return 0;
    }

    private static Argument<string> IdArgument() => new("id") { Description = "The id of the document." };

    private static int Missing(string id, string name)
    {
        Console.Error.WriteLine($"Document '{id}' has no attachment '{name}', or does not exist.");
        return ExitMissing;
    }
}
