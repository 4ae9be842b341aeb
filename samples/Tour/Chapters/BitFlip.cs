namespace Tour.Chapters;

/// <summary>Damage to a file: one bit of a text is another one.</summary>
internal static class BitFlip
{
    private const int BufferBytes = 1 << 20;

    /// <summary>Flips the lowest bit of the byte behind each place where a file has some bytes, and returns these places.</summary>
    public static IReadOnlyList<long> Behind(string path, byte[] bytes)
    {
        using var file = new FileStream(path, FileMode.Open, FileAccess.ReadWrite);
        var places = Find(file, bytes);
        foreach (var place in places)
        {
            file.Position = place + bytes.Length;
            var old = file.ReadByte();
            file.Position--;
            file.WriteByte((byte)(old ^ 1));
        }

        file.Flush(flushToDisk: true);
        return places;
    }

    private static List<long> Find(FileStream file, byte[] bytes)
    {
        var places = new List<long>();
        var buffer = new byte[BufferBytes];
        for (var start = 0L; start < file.Length;)
        {
            file.Position = start;
            var read = file.ReadAtLeast(buffer, buffer.Length, throwOnEndOfStream: false);
            var found = buffer.AsSpan(0, read).IndexOf(bytes);
            if (found >= 0)
                places.Add(start + found);

            // Behind what was found; otherwise so that no place is missed between two buffers.
            start = found >= 0 ? start + found + 1 : start + Math.Max(1, read - bytes.Length + 1);
        }

        return places;
    }
}
