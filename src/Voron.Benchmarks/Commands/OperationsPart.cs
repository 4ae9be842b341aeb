namespace Voron.Benchmarks.Commands;

/// <summary>What the command <c>operations</c> measures.</summary>
internal enum OperationsPart
{
    /// <summary>Backups and restores, and commits and lookups beside them.</summary>
    Backups,

    /// <summary>Compactions in place, and commits beside them.</summary>
    Compactions,

    /// <summary>Flushes and commits with and without a change log.</summary>
    ChangeLog,

    /// <summary>What salvages of damaged environments find.</summary>
    Salvages,

    /// <summary>The memory that each operation takes.</summary>
    Memory,
}
