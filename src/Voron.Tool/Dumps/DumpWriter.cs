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
    public abstract void BeginTree(string name);

    public abstract void Write(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value);

    public abstract void EndTree();

    /// <summary>Writes the end. A dump without it is not whole.</summary>
    public abstract void Finish();

    public abstract void Dispose();
}
