using Voron.Paging;
using Voron.Simulation.Harness;

namespace Voron.Torture.Schedules;

// Backups and compactions, which the engine runs on the thread that calls them.
internal sealed partial class ScheduleWorld
{
    private readonly ScheduledBackups _backups = new();
    private readonly List<CancellationTokenSource> _stops = [];
    private int _compacting;
    private int _compactionsBegun;

    private void DoLong(string who, Scripted scripted)
    {
        switch (scripted.Kind)
        {
            case ScriptedKind.Backup:
                BackUp(who, null, scripted);
                break;
            case ScriptedKind.BackupChanges:
                BackUp(who, _backups.Base, scripted);
                break;
            case ScriptedKind.Compact:
                Compact(scripted);
                break;
            case ScriptedKind.Cancel:
                foreach (var stop in _stops)
                    stop.Cancel();
                break;
            default:
                throw new ArgumentOutOfRangeException(nameof(scripted));
        }
    }

    private void BackUp(string who, ScheduledBackup? parent, Scripted scripted)
    {
        var least = Math.Max(_model.Acknowledged, _model.Seen);
        if (RunLong(stop => _backups.MakeAsync(Environment, parent, scripted, stop)) is not { } made)
            return;
        var id = made.Report.TransactionId;
        BrokenPromiseException.Require(id >= least, $"{who} backs up transaction {id}, when {least} was acknowledged or seen before.");
        BrokenPromiseException.Require(
            id <= _model.Newest || _model.HasForeignTransactions, $"{who} backs up transaction {id}, which no thread has made.");
        _model.See(id);
    }

    // With more than one time, it waits for readers as long as there are any. The readers of a script end.
    private void Compact(Scripted scripted)
    {
        var patience = scripted.Times > 1 ? TimeSpan.FromDays(1) : TimeSpan.Zero;
        var options = new CompactionOptions { IsOnOneThread = true, ReaderPatience = patience };
        var isAlone = ++_compacting == 1;
        var number = ++_compactionsBegun;
        try
        {
            if (RunLong(stop => Environment.CompactAsync(options, stop)) is not null)
                Compactions++;
        }
        catch (InvalidOperationException e) when (e is not ObjectDisposedException && (!isAlone || _compactionsBegun > number))
        {
            // There is one compaction at a time.
        }
        finally
        {
            _compacting--;
        }
    }

    // Returns null if another thread has cancelled the call.
    private T? RunLong<T>(Func<CancellationToken, ValueTask<T>> call)
        where T : class
    {
        using var stop = new CancellationTokenSource();
        _stops.Add(stop);
        try
        {
            var task = call(stop.Token);
            BrokenPromiseException.Require(task.IsCompleted, "A call continues with another thread, outside of the schedule.");
            return task.GetAwaiter().GetResult();
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            return null;
        }
        finally
        {
            _stops.Remove(stop);
        }
    }

    private static void GrowAhead(DataFile file)
    {
        if (file.Unbuffered != null)
            file.WriteAhead(file.CapacityPages + 1, static () => true);
        file.Preallocate(file.CapacityPages + PagesAhead);
    }
}
