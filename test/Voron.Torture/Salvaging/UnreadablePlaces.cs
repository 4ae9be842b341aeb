namespace Voron.Torture.Salvaging;

/// <summary>The places of files that a device cannot read: never, or only once.</summary>
/// <param name="damages">The damages, of any kind.</param>
internal sealed class UnreadablePlaces(IReadOnlyList<StoreDamage> damages)
{
    private readonly HashSet<StoreDamage> _read = [];

    /// <summary>True if a read has met a place that can never be read.</summary>
    public bool HaveFailed { get; private set; }

    /// <summary>Returns whether a read fails.</summary>
    public bool Fails(string file, long offset, int length)
    {
        var fails = false;
        foreach (var damage in damages.Where(damage => damage.FailsReads && damage.File == file))
        {
            if (offset >= damage.Offset + damage.Length || offset + length <= damage.Offset)
                continue;
            HaveFailed |= damage.IsNeverRead;
            fails |= damage.IsNeverRead || !_read.Add(damage);
        }

        return fails;
    }
}
