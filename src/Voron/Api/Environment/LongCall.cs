namespace Voron;

/// <summary>A long call as the status file counts it.</summary>
internal enum LongWork
{
    Other,
    Backup,
    Compaction,
}

/// <summary>What a long call is, and the messages of its exceptions.</summary>
/// <param name="Work">What the call counts as.</param>
/// <param name="Member">The member that was called.</param>
/// <param name="OnCancel">The message when the caller has cancelled it.</param>
/// <param name="OnClose">The end of the message when the environment was closed.</param>
/// <param name="OnNoMemory">The beginning of the message when there is no memory.</param>
internal readonly record struct LongCall(LongWork Work, string Member, string OnCancel, string OnClose, string OnNoMemory);
