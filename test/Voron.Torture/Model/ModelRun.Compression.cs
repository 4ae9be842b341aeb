using Voron.Simulation.Harness;
using Voron.Transactions;

namespace Voron.Torture.Model;

/// <content>Trees whose values are compressed: settings and dictionaries that change beside the other operations.</content>
internal sealed partial class ModelRun
{
    private const int MostDictionaryBytes = 40_000;

    private void Compress()
    {
        Settle();
        var trees = _versions.Newest.Trees;
        if (trees.Count == 0)
            return;

        // Three draws of four take the first tree, so that it gets several dictionaries: with one alone, the engine cannot mix them up.
        var name = trees.Keys.ElementAt(_random.Next(4) == 3 ? _random.Next(trees.Count) : 0);
        switch (_random.Next(10))
        {
            case < 4:
                SetCompression(name, _random.Next(8) == 7 ? ValueCompression.None : (ValueCompression)_random.Next(1, 3));
                break;
            case < 7:
                InstallDictionary(name);
                break;
            case < 8:
                History.Add("train", name);
                _environment.TrainDictionaryAsync(name).AsTask().GetAwaiter().GetResult();
                break;
            default:
                Recompress(name);
                break;
        }

        NoteOthers();
    }

    private void SetCompression(string name, ValueCompression compression)
    {
        using var transaction = _environment.BeginWrite();
        var id = transaction.TransactionId;
        History.Add($"compress {compression}", name);
        transaction.CompressValues(name, compression);
        BrokenPromiseException.Require(transaction.GetValueCompression(name) == compression, "a tree does not keep how its values are compressed");
        Commit(transaction, id, _versions.Newest);
    }

    // Two dictionaries that a program trains are much alike: these are not.
    private void InstallDictionary(string name)
    {
        using var transaction = _environment.BeginWrite();
        var id = transaction.TransactionId;
        History.Add("install a dictionary", name);
        var treeId = transaction.OpenTree(name).TreeId;
        var length = _random.Next(100, MostDictionaryBytes);
        var from = Pad.Bytes.Length / 2 + _random.Next(Pad.Bytes.Length / 2 - length);
        var last = transaction.Body.GetCompression(treeId).LastDictionary;
        if (transaction.Body.InstallDictionary(treeId, new TrainedDictionary(last + 1, Ratio: 500_000, Pad.Bytes[from..(from + length)])))
            Commit(transaction, id, _versions.Newest);
    }

    private void Recompress(string name)
    {
        History.Add("recompress", name);
        var report = _environment.RecompressAsync(name).AsTask().GetAwaiter().GetResult();
        BrokenPromiseException.Require(report.Rewritten <= report.Entries, $"more values were rewritten than there are: {report}");
    }

    // Transactions of the engine's own, which change no value.
    private void NoteOthers()
    {
        Settle();
        using var reading = _environment.BeginRead();
        _versions.Add(reading.TransactionId);
        new ModelReader(reading, _versions.Newest).CheckAll(History);
    }
}
