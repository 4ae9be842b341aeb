using System.Diagnostics;
using Voron.Simulation.Harness;
using Voron.Torture.Crashes;

namespace Voron.Torture.Model;

/// <content>Trees dropped in steps, beside the other operations and openings.</content>
internal sealed partial class ModelRun
{
    private static readonly TimeSpan DropLimit = TimeSpan.FromMinutes(2);

    private readonly List<Task<bool>> _drops = [];
    private bool _frees;

    // The name is free as soon as the first transaction is durable, and the pages follow while other operations continue.
    private void Drop()
    {
        Settle();
        var trees = _versions.Newest.Trees;
        if (trees.Count == 0 || _random.Next(10) == 9)
        {
            History.Add("drop tree", "no such tree");
            BrokenPromiseException.Require(
                !_environment.DropTreeAsync("no such tree").AsTask().GetAwaiter().GetResult(), "a tree was dropped that was never made");
            return;
        }

        var name = trees.Keys.ElementAt(_random.Next(trees.Count));
        History.Add("drop tree", name);
        var drop = _environment.DropTreeAsync(name).AsTask();
        _drops.Add(drop);
        _frees = true;
        _versions.Add(AwaitName(drop, name), _versions.Newest.Drop(name));
        switch (_random.Next(5))
        {
            case 1:
                CreateAgain(name);
                break;
            case 2:
                AwaitDrops();
                break;
            case 3:
                Reopen();
                break;
            default:
                break;
        }
    }

    // Returns a transaction in which the name is free.
    private long AwaitName(Task drop, string name)
    {
        for (var begun = Stopwatch.GetTimestamp(); ;)
        {
            var isOver = drop.IsCompleted;
            using (var reading = _environment.BeginRead())
            {
                if (!reading.TryOpenTree(name, out _))
                    return reading.TransactionId;
            }

            if (drop.IsFaulted)
                drop.GetAwaiter().GetResult();
            if (isOver || Stopwatch.GetElapsedTime(begun) > DropLimit)
                throw new ModelMismatchException($"the tree '{name}' was dropped, and a reader that begins later finds it");
            Thread.Yield();
        }
    }

    private void CreateAgain(string name)
    {
        using var transaction = _environment.BeginWrite();
        var id = transaction.TransactionId;
        History.Add("create", name);
        BrokenPromiseException.Require(!transaction.TryOpenTree(name, out _), $"a write transaction finds the tree '{name}', which was dropped");
        BrokenPromiseException.Require(transaction.CreateTree(name).Count == 0, $"the tree '{name}' has entries of one that was dropped");
        Commit(transaction, id, _versions.Newest.Create(name));
    }

    /// <summary>Waits until no dropped tree has pages any more. Then every page has an owner, or is free.</summary>
    private void AwaitDrops()
    {
        if (!_settings.Drops)
            return;
        History.Add("wait for dropped trees");
        foreach (var drop in _drops)
            BrokenPromiseException.Require(drop.GetAwaiter().GetResult(), "the drop of a tree reports that there was none");
        _drops.Clear();
        Settle();

        // Without a flusher in the background, an opening leaves what is left of dropped trees to the next drop.
        for (var begun = Stopwatch.GetTimestamp(); (_frees || _settings.Background) && HasDropped(); Thread.Yield())
            BrokenPromiseException.Require(Stopwatch.GetElapsedTime(begun) < DropLimit, "a dropped tree keeps pages, and nothing frees them");
        ContentCheck.Verify(_environment);
    }

    // The calls of drops that closing has ended; the environment is closed.
    private void EndDrops()
    {
        foreach (var drop in _drops)
        {
            try
            {
                drop.GetAwaiter().GetResult();
            }
            catch (ObjectDisposedException)
            {
                // The next opening, or the next drop, continues.
            }
        }

        _drops.Clear();
        _frees = false;
    }

    private bool HasDropped()
    {
        using var reading = _environment.BeginRead();
        return reading.GetDroppedTrees().Count > 0;
    }
}
