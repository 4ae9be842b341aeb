using System.CommandLine;
using Spectre.Console;

namespace Voron.Documents.Tool;

/// <summary>Imports documents.</summary>
internal static class ImportCommand
{
    public static Command Create()
    {
        var store = new StoreOptions();
        var apt = new Option<bool>("--apt") { Description = "Imports the packages that apt knows." };
        var json = new Option<string?>("--json") { Description = "Imports a file with a JSON object in each line; - is the standard input." };
        var csv = new Option<string?>("--csv") { Description = "Imports a file of comma-separated values, whose first line has names." };
        var generate = NumberOption.Create("--generate", "Makes documents with long texts, that many.", 1);
        var seed = new Option<int>("--seed") { Description = "With --generate: the same seed makes the same documents.", DefaultValueFactory = _ => 1 };
        var id = new Option<string?>("--id") { Description = "The column of --csv that has the ids; otherwise the column 'id'." };
        var skipBad = new Option<bool>("--skip-bad") { Description = "Leaves out what is no document, and counts it." };
        var noReplace = new Option<bool>("--no-replace") { Description = "Refuses a document whose id the collection has, or one before it." };
        var command = new Command("import", "Imports documents into a collection.") { apt, json, csv, generate, seed, id, skipBad, noReplace };
        store.AddTo(command).SetAction(async (parsed, stop) =>
        {
            var generated = parsed.GetValue(generate) is { } count ? GeneratedDocuments.Of(count, parsed.GetValue(seed)) : null;
            var source = SourceOf(generated, parsed.GetValue(apt), parsed.GetValue(json), parsed.GetValue(csv), parsed.GetValue(id));
            using var documents = store.OpenOrCreate(parsed);
            var collection = await documents.CreateCollectionAsync(store.CollectionOf(parsed), stop);
            var importer = new Importer(collection, source, parsed.GetValue(skipBad), !parsed.GetValue(noReplace));
            try
            {
                Run(importer, source, stop);
            }
            catch (OperationCanceledException)
            {
                Console.Error.WriteLine($"Cancelled. {importer.Imported:N0} {(importer.Imported == 1 ? "document is" : "documents are")} stored.");
                return Interruption.ExitCode;
            }

            Console.WriteLine($"imported: {importer.Imported}, refused: {importer.Refused}{(importer.Replaced > 0 ? $", replaced: {importer.Replaced}" : "")}");
            Console.Error.WriteLine($"{importer.PerSecond:N0} documents a second");
            if (importer.FirstRefusal != null)
                Console.Error.WriteLine($"The first that was refused: {importer.FirstRefusal}");
            return 0;
        });
        return command;
    }

    private static ImportSource SourceOf(ImportSource? generated, bool apt, string? json, string? csv, string? id)
    {
        if ((apt ? 1 : 0) + (json == null ? 0 : 1) + (csv == null ? 0 : 1) + (generated == null ? 0 : 1) != 1)
            throw new ImportException("Name one source: --apt, --json FILE, --csv FILE or --generate N.");
        if (id != null && csv == null)
            throw new ImportException("--id names a column of --csv.");
        if (generated != null)
            return generated;
        if (apt)
            return AptPackages.Of();
        return json != null ? JsonLines.Of(json) : CsvFile.Of(csv!, id);
    }

    private static void Run(Importer importer, ImportSource source, CancellationToken stop)
    {
        if (Console.IsErrorRedirected)
        {
            importer.Run(static _ => { }, stop);
            return;
        }

        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(Console.Error) });
        console.Progress().AutoClear(true)
            .Columns(source.Size == null
                ? [new TaskDescriptionColumn(), new ProgressBarColumn(), new ElapsedTimeColumn()]
                : [new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn(), new RemainingTimeColumn()])
            .Start(context =>
            {
                var task = context.AddTask("importing", maxValue: source.Size ?? 1);
                task.IsIndeterminate = source.Size == null;
                importer.Run(
                    read =>
                    {
                        task.Value = source.Size == null ? 0 : read;
                        task.Description = $"{importer.Imported:N0} documents, {importer.PerSecond:N0}/s, {importer.Refused:N0} refused";
                    },
                    stop);
            });
    }
}
