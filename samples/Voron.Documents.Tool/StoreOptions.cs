using System.CommandLine;
using Voron.Documents;

namespace Voron.Documents.Tool;

/// <summary>The options that say which collection of which store a command works on.</summary>
internal sealed class StoreOptions
{
    private readonly Option<string> _store = new("--store") { Description = "The directory of the store.", DefaultValueFactory = _ => "documents-data" };

    private readonly Option<string> _collection = new("--in") { Description = "The collection.", DefaultValueFactory = _ => "documents" };

    public Command AddTo(Command command)
    {
        command.Options.Add(_store);
        command.Options.Add(_collection);
        return command;
    }

    public DocumentStore Open(ParseResult parsed) => DocumentStore.Open(parsed.GetValue(_store)!);

    public string CollectionOf(ParseResult parsed) => parsed.GetValue(_collection)!;
}
