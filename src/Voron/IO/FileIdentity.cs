namespace Voron.IO;

/// <summary>The identity of a file, regardless of the path to it: two names with the same identity are the same file.</summary>
/// <param name="Volume">The device, or the serial number of the volume.</param>
/// <param name="Number">The file's number on that volume.</param>
/// <param name="NumberHigh">The upper half of the number, where numbers have 128 bits (ReFS).</param>
internal readonly record struct FileIdentity(ulong Volume, ulong Number, ulong NumberHigh = 0);
