namespace Voron;

/// <summary>The progress of a salvage: <see cref="SalvageOptions.Progress"/>.</summary>
/// <param name="Entries">The number of entries that the new environment has so far.</param>
/// <param name="Bytes">The bytes of their keys and values.</param>
/// <param name="SourceBytes">The length of the damaged data file, in bytes.</param>
public readonly record struct SalvageProgress(long Entries, long Bytes, long SourceBytes);
