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

    /// <summary>Opens the store.</summary>
    /// <exception cref="ArgumentException">There is none: a mistyped name creates nothing.</exception>
    public DocumentStore Open(ParseResult parsed)
    {
        try
        {
            return DocumentStore.Open(DirectoryOf(parsed), new StorageOptions { OpenMode = OpenMode.OpenExisting });
        }
        catch (EnvironmentNotFoundException e)
        {
            throw new ArgumentException($"There is no store in '{DirectoryOf(parsed)}'. import or put creates one.", e);
        }
    }

    /// <summary>Opens the store, and creates it if there is none.</summary>
    public DocumentStore OpenOrCreate(ParseResult parsed) => DocumentStore.Open(DirectoryOf(parsed));

    /// <summary>Returns the collection.</summary>
    /// <exception cref="KeyNotFoundException">The store has none of that name.</exception>
    public Collection CollectionOf(DocumentStore documents, ParseResult parsed)
    {
        try
        {
            return documents.GetCollection(CollectionOf(parsed));
        }
        catch (KeyNotFoundException e)
        {
            throw new KeyNotFoundException($"{e.Message} import or put creates it.", e);
        }
    }

    /// <summary>Returns the name of the collection.</summary>
    public string CollectionOf(ParseResult parsed) => parsed.GetValue(_collection) is { Length: > 0 } name
        ? name
        : throw new ArgumentException("--in needs the name of a collection.");

    private string DirectoryOf(ParseResult parsed) => parsed.GetValue(_store) is { } directory && !string.IsNullOrWhiteSpace(directory)
        ? directory
        : throw new ArgumentException("--store needs the name of a directory.");
}
