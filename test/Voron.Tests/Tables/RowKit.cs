using Voron.Tables;

namespace Voron.Tests.Tables;

internal delegate void RowFields(ref RowWriter writer);

internal delegate T RowReading<T>(ref RowReader reader);

/// <summary>Writes and reads rows without a table.</summary>
internal static class RowKit
{
    public const string Table = "orders";
    public const long RowId = 77;

    /// <summary>Returns the bytes of a row, in an array that ends where the row does.</summary>
    public static byte[] Write(RowFields fields, int definitionVersion = 1, long version = 5, long? expiry = null)
    {
        using var buffer = new RowBuffer();
        buffer.Begin(definitionVersion, expiry);
        var writer = new RowWriter(buffer);
        fields(ref writer);
        return buffer.Finish(version).ToArray();
    }

    public static T Read<T>(byte[] row, RowReading<T> read)
    {
        var reader = new RowReader(row, Table, RowId);
        return read(ref reader);
    }

    /// <summary>Requires that a row cannot be read, and returns the problem that the message names.</summary>
    public static string Refuses<T>(byte[] row, RowReading<T> read)
    {
        var thrown = Assert.Throws<RowFormatException>(() => { _ = Read(row, read); });
        thrown.TableName.Should().Be(Table);
        thrown.RowId.Should().Be(RowId);
        const string start = "Row 77 of the table 'orders' cannot be read: ";
        thrown.Message.Should().StartWith(start).And.EndWith(".");
        return thrown.Message[start.Length..];
    }
}
