using System.Runtime.InteropServices;

namespace Voron.Tests.Compression;

/// <summary>The system's own LZ4, with which the codec of the journal is compared.</summary>
internal static unsafe partial class SystemLz4
{
    private const string Library = "liblz4.so.1";

    /// <summary>Fails the calling test if the library is not installed. On Windows, which has no package of it, the test is skipped.</summary>
    public static void Require()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "wants liblz4, a library of Linux");
        var found = NativeLibrary.TryLoad(Library, out _);
        found.Should().BeTrue("the tests compare the codec with {0}: install the package liblz4-1", Library);
    }

    [LibraryImport(Library, EntryPoint = "LZ4_compress_default")]
    public static partial int Compress(byte* source, byte* target, int sourceLength, int targetCapacity);

    [LibraryImport(Library, EntryPoint = "LZ4_decompress_safe")]
    public static partial int Decompress(byte* source, byte* target, int sourceLength, int targetCapacity);
}
