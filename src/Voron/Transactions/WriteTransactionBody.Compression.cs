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

    /// <summary>Returns how new values of a tree are compressed; null if they are not.</summary>
    /// <exception cref="CorruptionException">The settings, or the newest dictionary, are damaged.</exception>
    public TreeCompression? FindCompression(in TreeHeader tree)
    {
        if ((tree.Flags & TreeHeader.CompressedFlag) == 0)
            return null;
        var settings = GetCompression(tree.TreeId);
        var name = SystemTree.DictionariesName(tree.TreeId, stackalloc byte[SystemTree.DictionariesNameBytes]);
        int number = settings.LastDictionary;
        if (number == 0 || !TryPeek(name, new TreeState(), out var dictionaries) || !DictionaryTree.Contains(dictionaries, WritePages, number))
            return new TreeCompression(settings, null);
        var bytes = DictionaryTree.Read(dictionaries, WritePages, tree.TreeId, number, out var ratio).ToArray();
        return new TreeCompression(settings, new TrainedDictionary(number, ratio, bytes));
    }

    /// <summary>Notes that values which were compressed earlier get into a tree: a recompression that has not seen them drops nothing.</summary>
    /// <param name="treeId">The tree.</param>
    /// <param name="numbers">The numbers of their dictionaries.</param>
    /// <returns>False if the tree does not contain all of these dictionaries.</returns>
    private bool TryUseDictionaries(uint treeId, IEnumerable<int> numbers)
    {
        var name = SystemTree.DictionariesName(treeId, stackalloc byte[SystemTree.DictionariesNameBytes]);
        if (OpenTree(name)?.SettledState() is not { } dictionaries)
            return false;
        foreach (var number in numbers)
        {
            if (!DictionaryTree.Contains(dictionaries, WritePages, number))
                return false;
        }

        var settings = GetCompression(treeId);
        settings.Changes++;
        TreeWriter.Put(WritePages, dictionaries, DictionaryEntry.SettingsKey, settings.ToBytes());
        Context.Packer.Begin();
        return true;
    }

    /// <summary>Installs a dictionary that compresses a tree's values from the next transaction on. This one must do nothing else.</summary>
    /// <param name="treeId">The tree.</param>
    /// <param name="dictionary">The dictionary.</param>
    /// <returns>False, with nothing changed, if the tree has received another dictionary since, has used all numbers, or is gone.</returns>
    public bool InstallDictionary(uint treeId, TrainedDictionary dictionary)
    {
        var name = SystemTree.DictionariesName(treeId, stackalloc byte[SystemTree.DictionariesNameBytes]);
        Context.BeginChange();
        try
        {
            var settings = GetCompression(treeId);
            var number = settings.LastDictionary + 1;
            if (settings.Mode == 0 || number != dictionary.Number || number > PackedValue.MostDictionaries || OpenTree(name) is not { } open)
                return false;
            settings.LastDictionary++;
            var state = open.SettledState();
            ReadOnlySpan<byte> key = [settings.LastDictionary];
            TreeWriter.Put(WritePages, state, DictionaryEntry.SettingsKey, settings.ToBytes());
            TreeWriter.Put(WritePages, state, key, DictionaryEntry.Write(treeId, number, dictionary.Ratio, dictionary.Bytes));
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
