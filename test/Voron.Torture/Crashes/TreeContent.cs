namespace Voron.Torture.Crashes;

/// <summary>The content of a tree that is no ordinary one, as of one commit. Immutable.</summary>
internal abstract class TreeContent
{
    private ulong? _digest;

    /// <summary>A digest that represents all of the content; computed once.</summary>
    public ulong Digest => _digest ??= ComputeDigest();

    /// <summary>Computes the same digest for the content of an environment.</summary>
    /// <param name="reading">A snapshot of the environment.</param>
    /// <param name="name">The name of the tree, which says what kind of tree it is.</param>
    /// <param name="digest">The digest.</param>
    /// <returns>False if it is the name of an ordinary tree.</returns>
    public static bool TryDigest(ReadTransaction reading, string name, out ulong digest)
    {
        var (isFixed, isIds, isRecorded) = (FixedContent.IsName(name), IdTreeContent.IsName(name), RecordedData.IsName(name));
        var isSets = ValueSetContent.IsName(name);
        digest = isRecorded ? RecordedData.DigestOf(reading)
            : isFixed ? FixedContent.DigestOf(reading.OpenFixedTree(name))
            : isIds ? IdTreeContent.DigestOf(reading.OpenIdTree(name))
            : isSets ? ValueSetContent.DigestOf(reading.OpenValueSetTree(name))
            : 0;
        return isFixed || isIds || isSets || isRecorded;
    }

    /// <summary>Describes where the tree of an environment differs.</summary>
    public abstract string Compare(ReadTransaction reading, string name);

    protected abstract ulong ComputeDigest();
}
