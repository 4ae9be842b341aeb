namespace Voron.IO;

/// <summary>A file in the directory of the environment.</summary>
internal readonly record struct DiskEntry(string Name, long Length);
