namespace Voron.Torture.Model;

/// <summary>Receives the environment's reports, on its threads, and keeps contradictions until the run asks.</summary>
internal sealed class ModelObserver
{
    /// <summary>A thread of the pool makes a report if no caller makes it.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    private readonly object _gate = new();
    private long _lastCommit;
    private long _lastFlush;
    private long _flushes;
    private string? _problem;

    public void OnCommit(CommitReport report)
    {
        lock (_gate)
        {
            if (report.TransactionId <= _lastCommit || report.JournalBytes <= 0 || report.PagesChanged < 0)
                _problem ??= $"behind transaction {_lastCommit} the commit observer received {report}";
            _lastCommit = report.TransactionId;
            Monitor.PulseAll(_gate);
        }
    }

    public void OnFlush(FlushReport report)
    {
        lock (_gate)
        {
            if (report.TransactionId < _lastFlush || report.TransactionId > _lastCommit
                || report.Leaves + report.Branches + report.Overflows > report.Pages)
                _problem ??= $"behind commit {_lastCommit} and flush {_lastFlush} the flush observer received {report}";
            _lastFlush = report.TransactionId;
            _flushes++;
            Monitor.PulseAll(_gate);
        }
    }

    public void OnScrub(VerificationReport report)
    {
        lock (_gate)
        {
            if (!report.IsSound)
                _problem ??= $"the verification in the background found {string.Join("; ", report.Problems.Take(5))}";
        }
    }

    public void OnSlowReader(SlowReaderReport report)
    {
        lock (_gate)
        {
            if (report.JournalBytes < 0 || report.ScratchBytes < 0)
                _problem ??= $"the slow reader observer received {report}";
        }
    }

    /// <summary>
    /// Restarts the checks when the environment continues in other files, or again from the existing ones: transaction ids may be repeated.
    /// </summary>
    public void Restart(long transactionId)
    {
        lock (_gate)
        {
            _lastCommit = transactionId;
            _lastFlush = 0;
            _flushes = 0;
        }
    }

    /// <param name="acknowledged">A transaction whose commit has returned: the observer receives its report soon.</param>
    /// <param name="flushes">The number of flushes that the environment has counted since it was opened.</param>
    public void Check(long acknowledged, long flushes)
    {
        lock (_gate)
        {
            var deadline = Environment.TickCount64 + (long)Patience.TotalMilliseconds;
            while (_problem is null && (_lastCommit < acknowledged || _flushes < flushes) && Environment.TickCount64 < deadline)
                Monitor.Wait(_gate, Patience);
            if (_problem is null && _lastCommit < acknowledged)
                _problem = $"transaction {acknowledged} was acknowledged, and the last report of the commit observer is {_lastCommit}";
            if (_problem is null && _flushes < flushes)
                _problem = $"{flushes} flushes are counted, and the flush observer received {_flushes}";
            if (_problem is not null)
                throw new ModelMismatchException(_problem);
        }
    }
}
