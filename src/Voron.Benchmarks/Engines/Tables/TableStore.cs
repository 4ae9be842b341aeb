namespace Voron.Benchmarks.Engines.Tables;

/// <summary>A table of packages with a primary key and the indexes of <see cref="PackageIndex"/>.</summary>
internal abstract class TableStore : IDisposable
{
    private const int RowsPerFill = 10_000;

    public abstract void BeginWrite();

    /// <summary>Inserts rows whose keys are new.</summary>
    public abstract void Insert(ReadOnlySpan<Package> rows);

    /// <summary>Changes the size of an existing row.</summary>
    public abstract void SetSize(string id, int size);

    /// <summary>Ends the write transaction. It is durable on return.</summary>
    public abstract void Commit();

    /// <summary>Writes back what has been committed, where the engine has a call for it.</summary>
    public virtual void Settle()
    {
    }

    /// <summary>Begins a read transaction, in which all reads see the same rows.</summary>
    public abstract void BeginRead();

    /// <summary>Reads all fields of a row by its primary key.</summary>
    public abstract Package Get(string id);

    /// <summary>Reads all fields of rows in the order of an index, and of their insertion where its keys are equal.</summary>
    /// <param name="key">A section or tag, whose rows are read, or a source, at which the rows begin.</param>
    public abstract void Read(PackageIndex index, string key, int most, ref RowChecksum sum);

    /// <summary>Ends the read transaction.</summary>
    public abstract void EndRead();

    /// <summary>Inserts the first rows, many in a transaction, and writes them back.</summary>
    public void Fill(PackageGenerator packages, int rows)
    {
        for (var from = 0; from < rows; from += RowsPerFill)
        {
            BeginWrite();
            Insert(packages.Make(from, Math.Min(RowsPerFill, rows - from)));
            Commit();
        }

        Settle();
    }

    public abstract void Dispose();

    protected static BenchmarkException Missing(string id) => new($"Row {id} is missing.");
}

/// <summary>An index of the table besides its primary key.</summary>
internal enum PackageIndex
{
    /// <summary>By <see cref="Package.Section"/>: few different keys.</summary>
    Section,

    /// <summary>By each of <see cref="Package.Tags"/>: several keys a row.</summary>
    Tag,

    /// <summary>By <see cref="Package.Source"/> and <see cref="Package.Version"/>: unique.</summary>
    Source,
}
