namespace Voron;

/// <summary>The kind of a long call, as counted in the status file.</summary>
internal enum LongWork
{
    Other,
    Backup,
    Compaction,
}

/// <summary>Describes a long call, and provides the messages of its exceptions.</summary>
/// <param name="Work">The kind of the call.</param>
/// <param name="Member">The member that was called.</param>
/// <param name="OnCancel">The message when the caller has cancelled it.</param>
/// <param name="OnClose">The end of the message when the environment was closed.</param>
/// <param name="OnNoMemory">The beginning of the message when there is no memory.</param>
internal readonly record struct LongCall(LongWork Work, string Member, string OnCancel, string OnClose, string OnNoMemory);
