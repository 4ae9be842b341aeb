using System.Diagnostics.CodeAnalysis;
using Voron.Format;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>Lists tree names and reports missing ones, for read and write transactions.</summary>
internal static class TreeNames
{
    public static IReadOnlyList<string> List(TransactionBody body)
    {
        var names = new List<string>();
        var cursor = new TreeCursor();
        cursor.Open(body.Catalog, body.Pages);
        try
        {
            // The engine's own trees are last.
            for (var found = cursor.SeekFirst(); found && !SystemTree.Is(cursor.Key); found = cursor.MoveNext())
                names.Add(Catalog.Decode(cursor.Key));
        }
        finally
        {
            cursor.Close();
        }

        return names;
    }

    /// <summary>Lists the dropped trees, in the order of their ids.</summary>
    public static IReadOnlyList<DroppedTreeStatistics> ListDropped(TransactionBody body)
    {
        var trees = new List<DroppedTreeStatistics>();
        var cursor = new TreeCursor();
        cursor.Open(body.Catalog, body.Pages);
        try
        {
            for (var found = cursor.Seek(SystemTree.FirstDropped); found && cursor.Key.StartsWith(SystemTree.FirstDropped); found = cursor.MoveNext())
            {
                if (!SystemTree.IsDropped(cursor.Key))
                    continue;
                var header = Catalog.ToHeader(cursor.Key, cursor.Value, body.Pages.PageCount, body.Pages.PageSize, body.Pages.FilePath);
                trees.Add(new DroppedTreeStatistics(header.TreeId, header.Pages));
            }
        }
        finally
        {
            cursor.Close();
        }

        return trees;
    }

    /// <summary>Lists the engine's own trees that were not dropped, in the order of their names.</summary>
    public static IReadOnlyList<(byte[] Name, TreeHeader Header)> ListSystem(TransactionBody body)
    {
        var trees = new List<(byte[], TreeHeader)>();
        var cursor = new TreeCursor();
        cursor.Open(body.Catalog, body.Pages);
        try
        {
            for (var found = cursor.Seek(SystemTree.First); found; found = cursor.MoveNext())
            {
                if (SystemTree.IsDropped(cursor.Key))
                    continue;
                var header = Catalog.ToHeader(cursor.Key, cursor.Value, body.Pages.PageCount, body.Pages.PageSize, body.Pages.FilePath);
                trees.Add((cursor.Key.ToArray(), header));
            }
        }
        finally
        {
            cursor.Close();
        }

        return trees;
    }

    [SuppressMessage("Design", "CA1859", Justification = "An ordinary .NET exception, made in one place.")]
    public static Exception Missing(TransactionBody body, string name) => new KeyNotFoundException(
        $"There is no tree '{name}' in '{body.Pages.FilePath}'. {nameof(WriteTransaction)}.{nameof(WriteTransaction.CreateTree)} creates one, and " +
        $"{nameof(StorageOptions)}.{nameof(StorageOptions.Trees)} names those that are created when the environment is opened.");
}
