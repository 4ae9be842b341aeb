namespace Voron.IO;

/// <summary>Which file it is, whatever path leads to it: two names with the same identity are one file.</summary>
/// <param name="Volume">The device, or the serial number of the volume.</param>
/// <param name="Number">The file's own number there.</param>
/// <param name="NumberHigh">Its upper half, where numbers have 128 bits (ReFS).</param>
internal readonly record struct FileIdentity(ulong Volume, ulong Number, ulong NumberHigh = 0);
