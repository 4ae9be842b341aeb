using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The history that the files of an environment belong to. Copies that continue separately have lineages of their own.</summary>
/// <remarks>Zero in version 1. Beyond the fork, transaction ids of two lineages are unrelated.</remarks>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct Lineage
{
    public const int Size = 40;

    /// <summary>A random number, fresh whenever an environment is created or restored.</summary>
    [FieldOffset(0)]
    public RandomId Id;

    /// <summary>The lineage from which this one forked; zero for a new environment.</summary>
    [FieldOffset(16)]
    public RandomId Parent;

    /// <summary>The last transaction that both have in common; 0 for a new environment.</summary>
    [FieldOffset(32)]
    public long ForkTransactionId;

    /// <summary>The numbers by which positions in feeds recognise the two lineages, and the last transaction that both have in common.</summary>
    public readonly (long Own, long Parent, long ForkTransactionId) Stamps => ((long)Id.Lower, (long)Parent.Lower, ForkTransactionId);
}
