namespace Voron.Transactions;

/// <summary>
/// The generations of pooled objects behind handles. A handle remembers the generation for which it was created, and throws when the object
/// has another one.
/// </summary>
/// <remarks>
/// The upper bits count transactions, or operations of a group commit, and the lower bits the ends of handles within one. An object can therefore
/// tell whether an old handle ended with its transaction.
/// </remarks>
internal static class HandleGeneration
{
    private const int EndsBits = 24;

    /// <summary>Returns the generation after the end of a handle within a transaction.</summary>
    public static long AfterHandle(long generation) => generation + 1;

    /// <summary>Returns the generation after the end of a transaction.</summary>
    public static long AfterTransaction(long generation) => ((generation >> EndsBits) + 1) << EndsBits;

    /// <summary>Returns whether the transaction for which a handle was created has ended.</summary>
    public static bool HasTransactionEnded(long ofHandle, long current) => ofHandle >> EndsBits != current >> EndsBits;
}
