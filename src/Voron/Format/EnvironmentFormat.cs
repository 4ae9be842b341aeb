using Voron.Testing;

namespace Voron.Format;

/// <summary>The format of an open environment: its version, its features, and its lineage.</summary>
/// <remarks>
/// An environment of version 1 becomes version 2 when a feature is first used. From then on, records contain the whole state, and the journal
/// continues in a file of version 2. The flusher changes the format, under its lock, for the holder of the writer. Threads that hold either of the
/// two, or that begin a journal file, read it.
/// </remarks>
internal sealed class EnvironmentFormat
{
    private uint _version = JournalFormat.Version;
    private uint _features;

    /// <summary>The format version of new records and files.</summary>
    public uint Version => Volatile.Read(ref _version);

    /// <summary>True while records and pages contain nothing that version 1 lacks.</summary>
    public bool IsVersion1 => Version == JournalFormat.Version1;

    /// <summary>The features that may be in use: both slots of the header name them.</summary>
    public FormatFeatures Features => (FormatFeatures)Volatile.Read(ref _features);

    /// <summary>The history that the environment belongs to.</summary>
    public Lineage Lineage { get; private set; }

    /// <summary>Returns whether all of these features may be used.</summary>
    public bool Has(FormatFeatures features) => (features & ~Features) == 0;

    /// <summary>Returns the mark that new pages of a tree carry in their headers: <see cref="PageHeader.TreeMark"/>.</summary>
    public uint TreeMark(uint treeId) => IsVersion1 ? 0 : treeId + (PlantedFault.MarkOfOtherTree ? 2u : 1);

    /// <summary>Adopts the format from a header that is durable in both slots.</summary>
    public void Adopt(in CheckpointHeader header)
    {
        Lineage = header.Lineage;
        Volatile.Write(ref _features, (uint)header.Features);
        Volatile.Write(ref _version, header.Version);
    }
}
