using Voron.Tables;

namespace Voron.Torture.Recorded;

/// <summary>A row: its bytes and its keys in all indexes follow from two numbers.</summary>
/// <param name="Key">The primary key.</param>
/// <param name="Number">Decides about the rest.</param>
internal readonly record struct RecordedRow(int Key, int Number)
{
    private const int LongBytes = 2_600;

    // Nothing of it comes twice, so that only a dictionary makes much of a short value.
    private static readonly byte[] Phrase = "No page of the journal waits until 4,096 others have been flushed by X."u8.ToArray();

    /// <summary>
    /// Returns bytes that follow from a number: few, or in one of sixteen cases more than a page has room for. Half of them can be compressed.
    /// </summary>
    public static byte[] BodyOf(int number)
    {
        var body = new byte[(number & 15) == 15 ? LongBytes + (number & 0xFFF) : number & 0x7F];
        for (var i = 0; i < body.Length; i++)
            body[i] = (number & 32) != 0 ? Phrase[(number + i) % Phrase.Length] : (byte)((number >> i % 4 * 8) + (i * i >> 2));
        return body;
    }

    /// <summary>Returns the bytes of a value of the tree.</summary>
    public static byte[] ValueOf(int number) => [.. BitConverter.GetBytes(number), .. BodyOf(number)];

    /// <summary>Returns the number from which the bytes of a value of the tree follow; -1 if they follow from none.</summary>
    public static int NumberOf(ReadOnlySpan<byte> value)
    {
        var number = value.Length < sizeof(int) ? -1 : BitConverter.ToInt32(value);
        return value.Length >= sizeof(int) && value[sizeof(int)..].SequenceEqual(BodyOf(number)) ? number : -1;
    }
}

/// <summary>Writes the numbers and the bytes that follow from them, and requires on reading that the latter fit.</summary>
internal sealed class RecordedRowCodec : IRowCodec<RecordedRow>
{
    public void Write(in RecordedRow row, ref RowWriter writer)
    {
        writer.WriteInt32(row.Key);
        writer.WriteInt32(row.Number);
        writer.WriteBytes(RecordedRow.BodyOf(row.Number));
    }

    public RecordedRow Read(ref RowReader reader)
    {
        var row = new RecordedRow(reader.ReadInt32(), reader.ReadInt32());
        return reader.ReadBytes().SequenceEqual(RecordedRow.BodyOf(row.Number))
            ? row
            : throw new FormatException($"The bytes of row {row.Key} are not those of {row.Number}.");
    }
}
