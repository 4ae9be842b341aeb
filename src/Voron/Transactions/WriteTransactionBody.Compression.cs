using Voron.Format;
using Voron.Trees;

namespace Voron.Transactions;

/// <content>Trees with compressed values.</content>
internal sealed partial class WriteTransactionBody
{
    /// <inheritdoc/>
    public bool TryPeek(ReadOnlySpan<byte> name, TreeState closed, out TreeState state)
    {
        state = closed;
        if (FindOpen(name) is { } open)
        {
            state = open.StateAsIs;
            return true;
        }

        if (!Trees.Catalog.TryFind(Catalog, WritePages, name, out var header))
            return false;
        closed.Load(header);
        return true;
    }

    /// <summary>Sets how the new values of a tree are compressed.</summary>
    public void SetCompression(OpenTree tree, ValueCompression compression)
    {
        var treeId = tree.StateAsIs.TreeId;
        var name = SystemTree.DictionariesName(treeId, stackalloc byte[SystemTree.DictionariesNameBytes]);
        Context.BeginChange();
        try
        {
            var state = tree.SettledState();
            var settings = GetCompression(treeId);
            if (settings.Mode == (byte)compression && state.IsCompressed == (compression != ValueCompression.None))
                return;
            var dictionaries = CreateTree(name).SettledState();
            settings.Mode = (byte)compression;
            settings.Changes++;
            TreeWriter.Put(WritePages, dictionaries, DictionaryEntry.SettingsKey, settings.ToBytes());
            tree.BeforeChange();
            state.IsCompressed = compression != ValueCompression.None;
            state.Changed = true;
            Context.Packer.Begin();
        }
        catch (Exception e) when (Context.Break(e))
        {
            throw;
        }
    }

    /// <summary>Returns how a tree's values are compressed; zeros if they never were.</summary>
    /// <exception cref="CorruptionException">The settings are damaged.</exception>
    public CompressionSettings GetCompression(uint treeId) =>
        TryPeek(SystemTree.DictionariesName(treeId, stackalloc byte[SystemTree.DictionariesNameBytes]), new TreeState(), out var state)
            ? DictionaryTree.ReadSettings(state, WritePages, treeId)
            : default;

    /// <summary>Installs a dictionary that compresses a tree's values from the next transaction on. This one must do nothing else.</summary>
    /// <param name="treeId">The tree.</param>
    /// <param name="last">The last dictionary of the tree when this one was trained.</param>
    /// <param name="ratio">The compressed size of a million bytes.</param>
    /// <param name="dictionary">The dictionary.</param>
    /// <returns>False, with nothing changed, if the tree has received another dictionary since, has used all numbers, or is gone.</returns>
    public bool InstallDictionary(uint treeId, int last, int ratio, byte[] dictionary)
    {
        var name = SystemTree.DictionariesName(treeId, stackalloc byte[SystemTree.DictionariesNameBytes]);
        Context.BeginChange();
        try
        {
            var settings = GetCompression(treeId);
            if (settings.Mode == 0 || settings.LastDictionary != last || last >= PackedValue.MostDictionaries || OpenTree(name) is not { } open)
                return false;
            settings.LastDictionary++;
            var state = open.SettledState();
            ReadOnlySpan<byte> key = [settings.LastDictionary];
            TreeWriter.Put(WritePages, state, DictionaryEntry.SettingsKey, settings.ToBytes());
            TreeWriter.Put(WritePages, state, key, DictionaryEntry.Write(treeId, settings.LastDictionary, ratio, dictionary));
            return true;
        }
        catch (Exception e) when (Context.Break(e))
        {
            throw;
        }
    }

    /// <summary>Deletes dictionaries that no value refers to any more. This transaction must do nothing else.</summary>
    /// <param name="treeId">The tree.</param>
    /// <param name="below">The first dictionary that is kept.</param>
    /// <param name="changes">The number of settings changes when it was found that no value refers to them.</param>
    /// <returns>The number of dictionaries.</returns>
    public long DropDictionaries(uint treeId, int below, uint changes)
    {
        var name = SystemTree.DictionariesName(treeId, stackalloc byte[SystemTree.DictionariesNameBytes]);
        Context.BeginChange();
        try
        {
            var settings = GetCompression(treeId);
            if (settings.Changes != changes || below < 2 || OpenTree(name) is not { } open)
                return 0;
            var state = open.SettledState();
            var dropped = 0L;
            for (var number = 1; number < below; number++)
            {
                ReadOnlySpan<byte> key = [(byte)number];
                if (TreeWriter.Delete(WritePages, state, key))
                    dropped++;
            }

            Context.Packer.Dictionaries.Forget(treeId, below);
            return dropped;
        }
        catch (Exception e) when (Context.Break(e))
        {
            throw;
        }
    }

    // Called when a tree loses its name: no transaction after this one reads its values.
    private void DeleteDictionaries(uint treeId)
    {
        var name = SystemTree.DictionariesName(treeId, stackalloc byte[SystemTree.DictionariesNameBytes]);
        if (OpenTree(name) is not { } dictionaries)
            return;
        dictionaries.BeforeChange();
        FreeAndForget(name, dictionaries.SettledState());
        SetDropped(dictionaries, isDropped: true);
        Context.Packer.Forget(treeId);
    }
}
