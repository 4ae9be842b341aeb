using Voron.Format;
using Voron.Tables;
using Voron.Tool.Dumps;

namespace Voron.Tool.Contents;

/// <summary>A tree or a table as commands show and dump it: each kind has its own form of keys and entries.</summary>
internal abstract class Content
{
    /// <summary>Opens a tree, or a table if no tree has the name.</summary>
    /// <exception cref="ToolException">There is neither.</exception>
    public static Content Open(ReadTransaction reading, string name, string directory) => Find(reading, name)
        ?? throw new ToolException(ExitCode.NothingThere, $"There is no tree or table '{name}' in '{directory}'. 'voron trees' lists all of them.");

    /// <summary>Opens a tree, or a table if no tree has the name; null if there is neither.</summary>
    public static Content? Find(ReadTransaction reading, string name) => reading.FindKind(name) switch
    {
        TreeKind.Plain => new PlainContent(reading.OpenTree(name)),
        TreeKind.FixedSize => new FixedContent(reading.OpenFixedTree(name)),
        TreeKind.IdSets => new IdContent(reading.OpenIdTree(name)),
        TreeKind.ValueSets => new ValueContent(reading.OpenValueSetTree(name)),
        null => TableContent.FindTable(reading, name),
    };

    /// <summary>Opens all trees, then all tables.</summary>
    public static List<Content> OpenAll(ReadTransaction reading, string directory) =>
    [
        .. reading.GetTreeNames().Select(name => Open(reading, name, directory)),
        .. reading.GetTableNames().Select(name => TableContent.FindTable(reading, name)!),
    ];

    /// <summary>Describes the kind and what a dump has of it.</summary>
    public abstract DumpSection Section { get; }

    /// <summary>Shows what a key has; false if there is no such key.</summary>
    /// <param name="key">The key as it was given.</param>
    /// <param name="output">Receives the lines.</param>
    public abstract bool Show(string key, EntryOutput output);

    /// <summary>Shows entries in the order of their keys.</summary>
    public abstract void List(KeyBounds keys, EntryOutput output);

    /// <summary>Writes entries to a dump.</summary>
    public abstract void Dump(KeyBounds keys, DumpWriter dump, CancellationToken stop);

    /// <summary>Returns the bytes of a value, for <c>--raw</c>; null if there is no such key.</summary>
    /// <exception cref="ToolException">A key has several values.</exception>
    public abstract byte[]? Read(string key);
}
