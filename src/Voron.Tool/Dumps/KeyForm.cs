using System.Globalization;

namespace Voron.Tool.Dumps;

/// <summary>Primary keys of tables as they are written on a command line, and shown: by the kind of key that the table has.</summary>
internal static class KeyForm
{
    /// <summary>Returns the bytes of a key.</summary>
    /// <param name="kind">The name of the table's codec of keys.</param>
    /// <param name="text">The key.</param>
    /// <exception cref="ToolException">The text is no key of that kind.</exception>
    public static byte[] Parse(string kind, string text)
    {
        var writer = new KeyWriter(stackalloc byte[64]);
        try
        {
            switch (kind)
            {
                case "int32": writer.Add(int.Parse(text, CultureInfo.InvariantCulture)); break;
                case "int64": writer.Add(long.Parse(text, CultureInfo.InvariantCulture)); break;
                case "uint32": writer.Add(uint.Parse(text, CultureInfo.InvariantCulture)); break;
                case "uint64": writer.Add(ulong.Parse(text, CultureInfo.InvariantCulture)); break;
                case "guid": writer.Add(Guid.Parse(text)); break;
                case "datetime": writer.Add(DateTime.Parse(text, CultureInfo.InvariantCulture, DateTimeStyles.AdjustToUniversal)); break;
                case "datetimeoffset": writer.Add(DateTimeOffset.Parse(text, CultureInfo.InvariantCulture, DateTimeStyles.RoundtripKind)); break;
                default: return KeyText.Parse(text);
            }
        }
        catch (Exception e) when (e is FormatException or OverflowException)
        {
            throw new ToolException(ExitCode.Usage, $"'{text}' is no key of this table, whose keys are of the kind {kind}.");
        }

        return writer.Written.ToArray();
    }

    /// <summary>Returns a key as text, which <see cref="Parse"/> takes.</summary>
    public static string Format(string kind, ReadOnlySpan<byte> key)
    {
        var reader = new KeyReader(key);
        try
        {
            return kind switch
            {
                "int32" => reader.ReadInt32().ToString(CultureInfo.InvariantCulture),
                "int64" => reader.ReadInt64().ToString(CultureInfo.InvariantCulture),
                "uint32" => reader.ReadUInt32().ToString(CultureInfo.InvariantCulture),
                "uint64" => reader.ReadUInt64().ToString(CultureInfo.InvariantCulture),
                "guid" => reader.ReadGuid().ToString(),
                "datetime" => reader.ReadDateTime().ToString("O", CultureInfo.InvariantCulture),
                "datetimeoffset" => reader.ReadDateTimeOffset().ToString("O", CultureInfo.InvariantCulture),
                _ => KeyText.Format(key),
            };
        }
        catch (FormatException)
        {
            return KeyText.Format(key);
        }
    }
}
