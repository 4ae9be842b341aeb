using System.Diagnostics;
using System.Globalization;
using System.Text;
using Voron.IO;
using Voron.Primitives;
using Voron.Snapshots;
using Voron.Transactions;

namespace Voron.Opening;

/// <summary>
/// The closed environments of this process in which transactions are still open, so that an opening that finds the directory locked can
/// report what it is waiting for.
/// </summary>
internal static class ClosedEnvironments
{
    private const int MaxNamed = 10;

    private static readonly Lock Gate = new();
    private static readonly List<(ReadingEngine Engine, SingleWriter? Writer)> All = [];

    /// <summary>Adds an environment that has been closed, unless all its resources have already been released.</summary>
    public static void Add(ReadingEngine engine, SingleWriter? writer)
    {
        using (Uninterrupted.Hold(Gate))
        {
            if (!engine.Users.IsReleased)
                All.Add((engine, writer));
        }
    }

    /// <summary>Removes an environment. Must be called when its last user has ended, before any resource is released.</summary>
    public static void Remove(ReadingEngine engine)
    {
        using (Uninterrupted.Hold(Gate))
            All.RemoveAll(closed => closed.Engine == engine);
    }

    /// <summary>Describes the transactions in this process that keep the lock of a directory; empty if there are none.</summary>
    public static string Describe(IDisk disk)
    {
        // No resource of an environment is released while this is held.
        using (Uninterrupted.Hold(Gate))
        {
            var text = new StringBuilder();
            foreach (var (engine, writer) in All)
            {
                if (engine.Disk.Place.Equals(disk.Place))
                    Describe(engine, writer, text);
            }

            return text.ToString();
        }
    }

    private static void Describe(ReadingEngine engine, SingleWriter? writer, StringBuilder text)
    {
        Debug.Assert(Gate.IsHeldByCurrentThread, "No resource of the environment may be released while it is described.");
        var readers = engine.Users.OpenReaders;
        var hasWriter = writer != null && engine.Users.HasWriter;
        var open = new List<string>();
        if (readers > 0)
            open.Add(readers == 1 ? "1 read transaction" : $"{readers} read transactions");
        if (hasWriter)
            open.Add($"write transaction {writer!.TransactionId}");
        if (open.Count == 0)
        {
            text.Append(" This process has closed it, but one of its calls has not returned yet. Open it again after that call has returned.");
            return;
        }

        text.Append(
            $" This process has closed it, but {string.Join(" and ", open)} {(readers + (hasWriter ? 1 : 0) > 1 ? "are" : "is")} still open. " +
            "Dispose all open transactions, then open it again.");
        if (hasWriter)
            Describe(text, $"write transaction {writer!.TransactionId}", writer.Origin.BeganTick, writer.Origin.ThreadId, writer.Origin.OpenedAt);
        var active = new List<ActiveReader>();
        engine.Readers.Collect(active, -1);
        foreach (var reader in active.Where(reader => reader.Slot != engine.FlusherSlot).Take(MaxNamed))
        {
            if (engine.Readers.Describe(reader) is { } origin)
            {
                var began = Environment.TickCount64 - (long)origin.Age.TotalMilliseconds;
                Describe(text, $"read transaction of snapshot {reader.Snapshot}", began, origin.ThreadId, origin.OpenedAt);
            }
        }
    }

    private static void Describe(StringBuilder text, string what, long beganTick, int thread, System.Diagnostics.StackTrace? openedAt)
    {
        var age = (Environment.TickCount64 - beganTick) / 1000.0;
        text.Append(CultureInfo.InvariantCulture, $" Thread {thread} began the {what} {age:F1} s ago, at: {TransactionLog.Describe(openedAt)}.");
    }
}
