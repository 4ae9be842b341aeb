namespace Voron.Tool.Dumps;

/// <summary>The forms of a dump.</summary>
internal enum DumpForm
{
    /// <summary>A line of JSON for each entry, and a last one with counts and a checksum.</summary>
    JsonLines,

    /// <summary>The format of <c>mdb_dump</c> and <c>db_dump</c>.</summary>
    Mdb,
}

/// <summary>Writes a dump.</summary>
internal abstract class DumpWriter : IDisposable
{
    public abstract void Begin(DumpSection section);

    /// <summary>Writes an entry of an ordinary tree, or a key and a value of its set.</summary>
    public abstract void Write(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value);

    /// <summary>Writes an entry of a fixed-size tree.</summary>
    public abstract void WriteNumber(long key, ReadOnlySpan<byte> value);

    /// <summary>Writes a key and an id of its set.</summary>
    public abstract void WriteId(ReadOnlySpan<byte> key, long id, byte payload);

    /// <summary>Writes a row.</summary>
    /// <param name="rowId">Its id.</param>
    /// <param name="key">Its primary key as text; null if that is its id.</param>
    /// <param name="row">Its bytes.</param>
    public abstract void WriteRow(long rowId, string? key, ReadOnlySpan<byte> row);

    public abstract void End();

    /// <summary>Writes the end. A dump without it is not whole.</summary>
    public abstract void Finish();

    public abstract void Dispose();
}
