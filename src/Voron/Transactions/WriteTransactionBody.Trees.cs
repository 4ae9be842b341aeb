using System.Diagnostics.CodeAnalysis;
using Voron.Format;
using Voron.Trees;
using Voron.Trees.Kinds;

namespace Voron.Transactions;

/// <content>Trees by their names.</content>
internal sealed partial class WriteTransactionBody
{
    public OpenTree? OpenTree(ReadOnlySpan<byte> name)
    {
        _writer.AssertHeld();
        var open = FindOpen(name);
        if (open == null && Trees.Catalog.TryFind(Catalog, WritePages, name, out var header))
            open = Add(name, header);
        return open == null ? null : NoteOpen(open);
    }

    // A companion is opened and closed with its tree.
    private OpenTree NoteOpen(OpenTree tree)
    {
        if (TreeKinds.Of(tree.StateAsIs.Kind).HasCompanion && !SystemTree.Is(tree.Name))
        {
            var name = SystemTree.LargeSetsName(tree.StateAsIs.TreeId, stackalloc byte[SystemTree.LargeSetsNameBytes]);
            tree.LargeSets = OpenTree(name) is { StateAsIs.Kind: TreeKind.Plain } large ? large : null;
        }

        return Operations.Note(tree);
    }

    /// <summary>Opens a tree of a kind.</summary>
    /// <exception cref="InvalidOperationException">The tree is of another kind.</exception>
    public OpenTree? OpenTree(ReadOnlySpan<byte> name, TreeKind kind)
    {
        var tree = OpenTree(name);
        tree?.ThrowUnless(kind);
        return tree;
    }

    /// <summary>Opens the tree, or creates it if it does not exist.</summary>
    /// <param name="name">The name in UTF-8.</param>
    /// <param name="kind">The kind of the tree.</param>
    /// <param name="valueBytes">The size of the values of an array; 0 for other kinds.</param>
    /// <exception cref="InvalidOperationException">The tree is of another kind, or its values have another size.</exception>
    public OpenTree CreateTree(ReadOnlySpan<byte> name, TreeKind kind = TreeKind.Plain, int valueBytes = 0)
    {
        var tree = OpenTree(name, kind);
        if (tree != null)
        {
            if (kind == TreeKind.FixedSize && tree.StateAsIs.NestedValues != valueBytes)
                ThrowValueSize(tree, valueBytes);
            return tree;
        }

        Context.BeginChange();
        if (WritePages.State.NextTreeId == uint.MaxValue)
        {
            throw new StorageFullException(
                $"No tree can be created: the environment in '{_engine.Disk.Path}' has used all {uint.MaxValue} tree ids, and uses none twice. " +
                "Copy the trees into a new environment.");
        }

        var header = new TreeHeader { TreeId = WritePages.State.NextTreeId, Kind = kind, NestedValues = valueBytes };
        if (StateStructure.FindFault(header, WritePages.State.PageCount, WritePages.PageSize) is { } fault)
            throw new ArgumentException($"No tree can have {fault}.", nameof(kind));

        // Durable before the first page and the first record that an older engine would misunderstand.
        var feature = TreeKinds.Of(kind).Feature | SystemTree.Feature(name);
        if (!_engine.Format.Has(feature))
            _engine.FlushServices!.RequireFeatures(feature);
        try
        {
            Trees.Catalog.Create(WritePages, Catalog, name, header);
            WritePages.State.NextTreeId++;
            if (TreeKinds.Of(kind).HasCompanion)
                CreateTree(SystemTree.LargeSetsName(header.TreeId, stackalloc byte[SystemTree.LargeSetsNameBytes]));
            return NoteOpen(Add(name, header));
        }
        catch (Exception e) when (Context.Break(e))
        {
            throw;
        }
    }

    public bool DeleteTree(ReadOnlySpan<byte> name)
    {
        var tree = OpenTree(name);
        if (tree == null)
            return false;

        Context.UnfinishedPuts.ThrowIfAny(nameof(DeleteTree), tree.StateAsIs.TreeId);
        Context.BeginChange();
        try
        {
            tree.BeforeChange();
            RecordName(tree, default);
            FreeAndForget(name, tree.SettledState());
            SetDropped(tree, isDropped: true);
            DeleteDictionaries(tree.StateAsIs.TreeId);
            if (tree.LargeSets is OpenTree large)
                DropTree(large.Name, long.MaxValue);
            return true;
        }
        catch (Exception e) when (Context.Break(e))
        {
            throw;
        }
    }

    private void FreeAndForget(ReadOnlySpan<byte> name, TreeState tree)
    {
        TreeKinds.Of(tree.Kind).Pages.DeleteAll(WritePages, tree);
        Trees.Catalog.Delete(WritePages, Catalog, name, tree);
    }

    public bool RenameTree(ReadOnlySpan<byte> name, ReadOnlySpan<byte> newName)
    {
        Trees.Catalog.CheckName(newName);
        var tree = OpenTree(name);
        if (tree == null)
            return false;
        if (!name.SequenceEqual(newName) && TreeReader.Contains(Catalog, WritePages, newName))
            throw new ArgumentException($"There is already a tree '{Trees.Catalog.Decode(newName)}'.", nameof(newName));

        Context.BeginChange();
        try
        {
            tree.BeforeChange();
            var newBytes = newName.ToArray();
            if (!name.SequenceEqual(newName))
                RecordName(tree, newName);
            Trees.Catalog.Rename(WritePages, Catalog, name, newName);
            SetName(tree, newBytes);
            tree.SettledState().Changed = true;
            return true;
        }
        catch (Exception e) when (Context.Break(e))
        {
            throw;
        }
    }

    /// <inheritdoc/>
    public TreeState? FindTree(ReadOnlySpan<byte> name) => OpenTree(name)?.SettledState();

    /// <summary>Begins or ends the recording of a tree's changes.</summary>
    public void SetRecorded(OpenTree tree, bool isRecorded)
    {
        Context.BeginChange();
        try
        {
            var state = tree.SettledState();
            tree.BeforeChange();
            state.IsRecorded = isRecorded;
            state.Changed = true;
            Context.Recorder.BeginEpoch();
        }
        catch (Exception e) when (Context.Break(e))
        {
            throw;
        }
    }

    // A deleted or renamed tree is another source from then on.
    private void RecordName(OpenTree tree, ReadOnlySpan<byte> newName)
    {
        if (!tree.SettledState().IsRecorded)
            return;

        // A tree whose feed is damaged can still be deleted.
        if (!newName.IsEmpty || Context.Recorder.Knows(tree))
            Context.Recorder.RecordName(tree, newName);
        if (newName.IsEmpty)
            tree.StateAsIs.IsRecorded = false;
    }

    [DoesNotReturn]
    private static void ThrowValueSize(OpenTree tree, int valueBytes) => throw new InvalidOperationException(
        $"The {Trees.Catalog.Describe(tree.Name)} has values of {tree.StateAsIs.NestedValues} bytes, and was opened with values of {valueBytes} bytes. A " +
        "fixed-size tree keeps the size with which it was created.");
}
