using Voron.Dropping;
using Voron.Format;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <content>Trees of the engine's own, by the bytes of their names.</content>
public readonly partial struct WriteTransaction
{
    /// <summary>The path of the data file, for messages.</summary>
    internal string DataFilePath => Body.WritePages.FilePath;

    /// <summary>The history that the environment belongs to.</summary>
    internal Lineage Lineage => Body.WritePages.Lineage;

    /// <summary>The maximum length of a key in bytes.</summary>
    internal int MaxKeyLength => Trees.Pages.TreeLimits.MaxKeyLength(Body.WritePages.PageSize);

    /// <summary>Opens a tree by the bytes of its name, or creates it when there is none of that name.</summary>
    internal OpenTree CreateSystemTree(ReadOnlySpan<byte> name, TreeKind kind) => Body.CreateTree(name, kind);

    /// <summary>Opens a system tree; null when there is none of that name.</summary>
    internal OpenTree? FindSystemTree(ReadOnlySpan<byte> name, TreeKind kind) => Body.OpenTree(name, kind);

    /// <summary>Finds a tree of a user; null when there is none of that name.</summary>
    internal OpenTree? FindTree(string name) =>
        Body.OpenTree(Catalog.Encode(name, stackalloc byte[Trees.Pages.TreeLimits.MaxNameBytes]), TreeKind.Plain);

    /// <summary>Finds a tree by its name, whatever its kind.</summary>
    internal OpenTree? FindTreeOfAnyKind(string name) => Body.OpenTree(Catalog.Encode(name, stackalloc byte[Trees.Pages.TreeLimits.MaxNameBytes]));

    /// <summary>Finds a tree of a user, or the rows of a table, by its id; null when there is none. Opens all of them.</summary>
    internal OpenTree? FindTree(uint treeId)
    {
        var body = Body;
        foreach (var name in TreeNames.List(body))
        {
            if (body.OpenTree(Catalog.Encode(name, new byte[Trees.Pages.TreeLimits.MaxNameBytes])) is { } tree && tree.StateAsIs.TreeId == treeId)
                return tree;
        }

        foreach (var (name, header) in TreeNames.ListSystem(body))
        {
            if (header.TreeId == treeId)
                return body.OpenTree(name);
        }

        return null;
    }

    /// <summary>Notes that a table has been deleted.</summary>
    internal void NoteDeletedTable(string name) => Body.Scope.NoteDeletedTable(name);

    /// <summary>Begins or ends the recording of a tree's changes.</summary>
    internal void SetRecorded(OpenTree tree, bool isRecorded) => Body.SetRecorded(tree, isRecorded);

    /// <summary>Records that a feed records the changes of a tree from here on, or does so no more.</summary>
    internal void RecordSource(OpenTree tree, bool begins)
    {
        var scope = Body.Scope;
        scope.BeginChange();
        try
        {
            scope.Recorder.RecordSource(tree, begins);
        }
        catch (Exception e) when (scope.Break(e))
        {
            throw;
        }
    }

    /// <summary>Changes the sources of feeds.</summary>
    /// <param name="change">Makes the change; a failure breaks the transaction.</param>
    internal void EditSources(Action<SourceEditor> change)
    {
        var body = Body;
        body.Scope.BeginChange();
        try
        {
            var feeds = body.CreateTree(SystemTree.Feeds).SettledState();
            change(new SourceEditor(body.WritePages, feeds));
            body.Scope.Recorder.BeginEpoch();
        }
        catch (Exception e) when (body.Scope.Break(e))
        {
            throw;
        }
    }

    /// <summary>Deletes a system tree, and frees its pages.</summary>
    internal bool DeleteSystemTree(ReadOnlySpan<byte> name) => Body.DeleteTree(name);

    /// <summary>Takes its name from a system tree. Its pages are freed at once if they are few; otherwise the environment has to free them.</summary>
    /// <returns>True if pages are left, to be freed in the background after the commit.</returns>
    internal bool DropSystemTree(ReadOnlySpan<byte> name) => Body.DropTree(name, DropPace.PagesAtOnce).HasPages;
}
