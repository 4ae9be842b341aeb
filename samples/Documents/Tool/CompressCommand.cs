using System.CommandLine;

namespace Voron.Documents.Tool;

/// <summary>Compresses documents.</summary>
internal static class CompressCommand
{
    public static Command Create()
    {
        var store = new StoreOptions();
        var how = new Argument<ValueCompression>("how") { Description = "fast, thorough, or none to decompress." };
        var command = new Command("compress", "Compresses the documents of a collection, existing and future ones.") { how };
        store.AddTo(command).SetAction(async (parsed, stop) =>
        {
            using var documents = store.Open(parsed);
            var report = await documents.SetCompressionAsync(store.CollectionOf(parsed), parsed.GetValue(how), stop);
            Console.WriteLine($"documents: {report.Entries}, rewritten: {report.Rewritten}");
            return 0;
        });
        return command;
    }
}
