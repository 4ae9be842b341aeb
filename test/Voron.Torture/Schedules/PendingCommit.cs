using System.Diagnostics.CodeAnalysis;
using Voron.Simulation.Harness;

namespace Voron.Torture.Schedules;

/// <summary>A commit that no thread awaits yet.</summary>
[SuppressMessage("Reliability", "CA2012", Justification = "The task is looked at until it has completed, and its result is taken once.")]
internal sealed class PendingCommit(long id, bool fails)
{
    private bool _isDone;
    private ValueTask _task;

    public long Id { get; set; } = id;

    public bool IsGroupCommit { get; } = id == 0;

    public ValueTask Task
    {
        set => _task = value;
    }

    public bool IsCompleted => _isDone || _task.IsCompleted;

    /// <summary>Takes the result of the task; returns true if the transaction was committed.</summary>
    public bool Complete(bool isClosing)
    {
        _isDone = true;
        try
        {
            _task.GetAwaiter().GetResult();
            BrokenPromiseException.Require(!fails, "An operation that throws is acknowledged.");
            return true;
        }
        catch (PlannedException) when (fails)
        {
            return false;
        }
        catch (ObjectDisposedException) when (isClosing && IsGroupCommit)
        {
            return false;
        }
    }
}
