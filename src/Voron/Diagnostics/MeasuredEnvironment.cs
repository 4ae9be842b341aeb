using Voron.Transactions;

namespace Voron.Diagnostics;

/// <summary>An open environment, as the observable instruments of a meter read it.</summary>
/// <param name="engine">Its engine.</param>
/// <param name="queuedOperations">Returns the number of operations that wait for a group commit.</param>
/// <param name="hasReplayed">True if its opening had to replay the journal.</param>
internal sealed class MeasuredEnvironment(Engine engine, Func<int> queuedOperations, bool hasReplayed)
{
    public Engine Engine => engine;

    public int QueuedOperations => queuedOperations();

    /// <summary>The number of openings that had to replay the journal: 0 or 1.</summary>
    public long Recoveries => hasReplayed ? 1 : 0;

    /// <summary>The tag of its measurements.</summary>
    public KeyValuePair<string, object?> Tag => engine.Name.Tag;

    /// <summary>
    /// Reads a figure on a listener's thread; false if the environment is closed, or does not have the figure. Takes no lock, never waits and never
    /// throws. The memory and files of the environment are not released meanwhile.
    /// </summary>
    public bool TryRead<T>(Func<MeasuredEnvironment, T?> read, out T value)
        where T : struct
    {
        value = default;
        if (!engine.Users.TryAddCall())
            return false;
        try
        {
            var found = read(this);
            value = found ?? default;
            return found != null;
        }
        catch (Exception)
        {
            return false;
        }
        finally
        {
            Leave();
        }
    }

    // The last user of a closed environment releases it, which is reported to no caller here.
    private void Leave()
    {
        try
        {
            engine.Users.RemoveCall();
        }
        catch (Exception)
        {
            // The files look as after a crash. The next opening recovers them.
        }
    }
}
