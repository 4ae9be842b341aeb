using Voron.Format;
using Voron.Snapshots;
using Voron.Trees;
using Voron.Trees.Kinds;

namespace Voron.Transactions;

/// <summary>Finds the features of the format that the trees of an environment need.</summary>
internal static class CatalogFeatures
{
    /// <summary>
    /// Returns the features of all trees in the published state. If part of the catalog cannot be read, its trees may be of any kind, and all
    /// features known to this engine are returned. Reads the whole catalog.
    /// </summary>
    /// <param name="source">The snapshots after recovery.</param>
    public static FormatFeatures Find(SnapshotSource source)
    {
        var snapshot = new SnapshotPages(source);
        var cursor = new TreeCursor();
        snapshot.Begin();
        try
        {
            var features = FormatFeatures.None;
            cursor.Open(new TreeState(snapshot.State.Catalog), snapshot, canChange: false);
            for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
            {
                if (!SystemTree.IsUnknown(cursor.Key))
                    features |= TreeKinds.Feature(HeaderAt(cursor, snapshot)) | SystemTree.Feature(cursor.Key);
            }

            return features;
        }
        catch (VoronException)
        {
            // The damage is reported where the trees are used.
            return JournalFormat.KnownFeatures;
        }
        finally
        {
            cursor.Close();
            snapshot.End();
            snapshot.Retire();
        }
    }

    private static TreeHeader HeaderAt(TreeCursor cursor, SnapshotPages pages) =>
        Catalog.ToHeader(cursor.Key, cursor.Value, pages.PageCount, pages.PageSize, pages.FilePath);
}
