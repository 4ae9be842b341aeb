using System.CommandLine;
using Spectre.Console;
using Voron.Tables;

namespace Voron.Documents.Tool;

/// <summary>Shows the collections and their sizes.</summary>
internal static class StatsCommand
{
    public static Command Create()
    {
        var store = new StoreOptions();
        var command = new Command("stats", "Shows the collections, their indexes and sizes.");
        store.AddTo(command).SetAction(parsed =>
        {
            using var documents = store.Open(parsed);
            Show(documents, AnsiConsole.Console);
            return 0;
        });
        return command;
    }

    public static void Show(DocumentStore documents, IAnsiConsole console)
    {
        var tables = documents.Environment.GetTables().ToDictionary(table => table.Name);
        var pageSize = documents.Environment.GetStatistics().PageSize;
        var rows = new Table().AddColumn("collection").AddColumn("documents").AddColumn("bytes").AddColumn("index").AddColumn("keys").AddColumn("bytes");
        foreach (var settings in documents.GetCollections())
        {
            var table = tables[settings.Name];
            rows.AddRow(Markup.Escape(settings.Name), $"{table.Rows:N0}", $"{table.RowPages * pageSize:N0}", "", "", "");
            foreach (var index in table.Indexes)
                rows.AddRow("", "", "", Markup.Escape(index.Name), $"{index.Keys:N0}", $"{index.Pages * pageSize:N0}");
            if (documents.GetCollection(settings.Name).GetTextStatistics() is { } text)
                rows.AddRow("", "", "", Markup.Escape($"words of {string.Join(' ', text.Fields)}"), $"{text.Words:N0}", $"{text.Pages * pageSize:N0}");
        }

        console.Write(rows);
    }
}
