namespace Voron;

/// <summary>The information that the journal records about pages before a flush overwrites them in the data file.</summary>
public enum TornPageProtection
{
    /// <summary>
    /// Records the checksums of the pages. This suffices for a device on which a sector that is being written during a power failure holds
    /// old bytes, new bytes, or a mix of both. Any other damage is detected when the environment is opened, and is reported as corruption.
    /// </summary>
    Checksums,

    /// <summary>
    /// Records compressed full-page images of those pages that the journal cannot reconstruct otherwise. This repairs such a sector whatever
    /// it holds, but writes changed pages twice; the journal takes correspondingly more space.
    /// </summary>
    FullPageImages,
}
