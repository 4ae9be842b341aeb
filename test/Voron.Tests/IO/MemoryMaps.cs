using System.Globalization;

namespace Voron.Tests.IO;

/// <summary>The mappings of this process. Linux only.</summary>
internal static class MemoryMaps
{
    public static int Count => File.ReadLines("/proc/self/maps").Count();

    /// <summary>Returns whether a thread can write to an address without ending the process.</summary>
    public static bool CanTouch(nint address) => File.ReadLines("/proc/self/maps").Select(Parse).Any(map =>
        map.Start <= (ulong)address && (ulong)address < map.End && map.Access.StartsWith("rw", StringComparison.Ordinal));

    private static (ulong Start, ulong End, string Access) Parse(string line)
    {
        var fields = line.Split(' ', 3);
        var range = fields[0].Split('-');
        return (Number(range[0]), Number(range[1]), fields[1]);
    }

    private static ulong Number(string hex) => ulong.Parse(hex, NumberStyles.HexNumber, CultureInfo.InvariantCulture);
}
