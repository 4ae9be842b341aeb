using Voron.Dropping;
using Voron.Format;
using Voron.Loading;
using Voron.Recording;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Kinds;

namespace Voron;

/// <content>What tables and feeds need of a transaction: trees of the engine's own, by the bytes of their names, and recorded trees.</content>
public readonly partial struct WriteTransaction
{
    /// <summary>The path of the data file, for messages.</summary>
    internal string DataFilePath => Body.WritePages.FilePath;

    /// <inheritdoc cref="Lineage.Stamps"/>
    internal (long Own, long Parent, long ForkTransactionId) LineageStamps => Body.WritePages.Lineage.Stamps;

    /// <summary>The maximum length of a key in bytes.</summary>
    internal int MaxKeyLength => Trees.Pages.TreeLimits.MaxKeyLength(Body.WritePages.PageSize);

    /// <summary>The time at which the transaction judges the expiry of rows, in milliseconds since 1970: the same until it ends.</summary>
    internal long Now => Body.ReadTime();

    /// <inheritdoc cref="WriteContext.Break"/>
    internal bool Break(Exception cause) => Body.Context.Break(cause);

    /// <summary>Opens a tree of entries by the bytes of its name, or creates it when there is none of that name.</summary>
    internal WriteTree CreateSystemTree(ReadOnlySpan<byte> name) => new(Body.CreateTree(name));

    /// <summary>Opens a tree of id sets by the bytes of its name, or creates it when there is none of that name.</summary>
    internal WriteIdTree CreateSystemIdTree(ReadOnlySpan<byte> name) => new(Body.CreateTree(name, TreeKind.IdSets));

    /// <summary>Opens a tree of entries by the bytes of its name; null when there is none of that name.</summary>
    internal WriteTree? FindSystemTree(ReadOnlySpan<byte> name) => ToHandle(Body.OpenTree(name, TreeKind.Plain));

    /// <summary>Opens a tree of id sets by the bytes of its name; null when there is none of that name.</summary>
    internal WriteIdTree? FindSystemIdTree(ReadOnlySpan<byte> name) =>
        Body.OpenTree(name, TreeKind.IdSets) is { } open ? new WriteIdTree(open) : null;

    /// <summary>Opens a tree of a user that a feed could record; null when there is none of that name, or it is of another kind.</summary>
    /// <param name="name">The name of the tree.</param>
    /// <param name="otherKind">Describes that kind; null if the tree has entries, or does not exist.</param>
    internal WriteTree? FindTreeToRecord(string name, out string? otherKind)
    {
        var open = Body.OpenTree(Catalog.Encode(name, stackalloc byte[Trees.Pages.TreeLimits.MaxNameBytes]));
        otherKind = open == null || open.StateAsIs.Kind == TreeKind.Plain ? null : TreeKinds.Of(open.StateAsIs.Kind).Description;
        return otherKind == null ? ToHandle(open) : null;
    }

    /// <summary>Finds a user tree, or the rows of a table, by its id; null when there is none. Opens all trees on the way.</summary>
    internal WriteTree? FindTree(uint treeId)
    {
        var body = Body;
        foreach (var name in TreeNames.List(body))
        {
            if (body.OpenTree(Catalog.Encode(name, new byte[Trees.Pages.TreeLimits.MaxNameBytes])) is { } tree && tree.StateAsIs.TreeId == treeId)
                return ToHandle(tree);
        }

        foreach (var (name, header) in TreeNames.ListSystem(body))
        {
            if (header.TreeId == treeId)
                return ToHandle(body.OpenTree(name));
        }

        return null;
    }

    /// <summary>Begins to build a system tree, which exists, among private trees; null if it has entries or is recorded.</summary>
    /// <inheritdoc cref="IndexLoad(PrivateTrees, byte[], in TreeHeader, int, long, CancellationToken)"/>
    internal IndexLoad? TryBeginLoad(PrivateTrees trees, byte[] name, int idBytes, long memoryBytes, CancellationToken stop)
    {
        var target = TargetOf(name);
        return target.CanAdopt ? new IndexLoad(trees, name, target.Header, idBytes, memoryBytes, stop) : null;
    }

    /// <inheritdoc cref="TryBeginLoad(PrivateTrees, byte[], int, long, CancellationToken)"/>
    internal PrivateTree? TryBeginLoad(PrivateTrees trees, byte[] name)
    {
        var target = TargetOf(name);
        return target.CanAdopt ? new PrivateTree(trees, name, target) : null;
    }

    /// <summary>Gives empty system trees the content that was built for them.</summary>
    /// <param name="trees">The private trees.</param>
    /// <param name="loads">Those that are sorted and belong to system trees. All are adopted.</param>
    /// <param name="rows">Another one; null for none.</param>
    /// <returns>False if one of the system trees has changed since; then the transaction must be rolled back.</returns>
    internal bool TryAdopt(PrivateTrees trees, IEnumerable<IndexLoad> loads, PrivateTree? rows = null)
    {
        if (rows?.TryAdopt(Body) == false)
            return false;
        foreach (var load in loads)
        {
            if (!load.TryAdopt(Body))
                return false;
        }

        trees.TakePages(Body);
        return true;
    }

    /// <inheritdoc cref="ILayersAbove.LayerObject"/>
    internal object LayerObject => Body.Context.Above!.LayerObject;

    /// <summary>Makes a tree a source of a feed, which records its changes from here on. A failure breaks the transaction.</summary>
    /// <param name="tree">The tree.</param>
    /// <param name="recording">How its changes are recorded. The source number is assigned here.</param>
    /// <param name="name">The name of the tree or table in UTF-8.</param>
    /// <exception cref="StorageFullException">There is not enough space, or the feed has used all source numbers.</exception>
    internal void StartRecording(WriteTree tree, TreeRecording recording, ReadOnlySpan<byte> name)
    {
        var (body, open) = (Body, tree.Opened);
        body.Context.BeginChange();
        try
        {
            Sources(body).Add(open.StateAsIs.TreeId, recording, name);
            body.SetRecorded(open, isRecorded: true);
            body.Context.Recorder.RecordSource(open, begins: true);
        }
        catch (Exception e) when (body.Context.Break(e))
        {
            throw;
        }
    }

    /// <summary>Ends a source of a feed, which keeps it as long as it contains its changes. A failure breaks the transaction.</summary>
    /// <param name="tree">The tree.</param>
    /// <param name="feed">The number of the feed.</param>
    /// <param name="source">The number of the source.</param>
    /// <exception cref="CorruptionException">The source is missing or damaged.</exception>
    internal void StopRecording(WriteTree tree, ushort feed, uint source)
    {
        var (body, open) = (Body, tree.Opened);
        body.Context.BeginChange();
        try
        {
            body.Context.Recorder.RecordSource(open, begins: false);
            body.SetRecorded(open, isRecorded: false);
            var sources = Sources(body);
            sources.End(feed, source, body.WritePages.Id);
            sources.Forget(open.StateAsIs.TreeId);
            body.Context.Recorder.BeginEpoch();
        }
        catch (Exception e) when (body.Context.Break(e))
        {
            throw;
        }
    }

    /// <summary>Removes the mark of a recorded tree whose entry in the tree of feeds is damaged or missing, or is deleted by the caller.</summary>
    internal void UnmarkRecorded(WriteTree tree) => Body.SetRecorded(tree.Opened, isRecorded: false);

    /// <summary>Notes that the caller has changed entries of recorded trees in the tree of feeds.</summary>
    internal void NoteRecordingsChanged() => Body.Context.Recorder.BeginEpoch();

    /// <summary>Deletes a system tree, and frees its pages.</summary>
    internal bool DeleteSystemTree(ReadOnlySpan<byte> name) => Body.DeleteTree(name);

    /// <summary>
    /// Removes the name of a system tree. Its pages are freed immediately if they are few; otherwise the environment has to free them.
    /// </summary>
    /// <returns>True if pages are left, to be freed in the background after the commit.</returns>
    internal bool DropSystemTree(ReadOnlySpan<byte> name) => Body.DropTree(name, DropPace.PagesAtOnce).HasPages;

    private LoadTarget TargetOf(byte[] name)
    {
        var header = Body.OpenTree(name)!.SettledState().ToHeader();
        return new LoadTarget(header, IsNew: false, Body.FindCompression(header));
    }

    private static WriteTree? ToHandle(OpenTree? open) => open == null ? null : new WriteTree(open);

    private static SourceEditor Sources(WriteTransactionBody body) => new(body.WritePages, body.CreateTree(SystemTree.Feeds).SettledState());
}
