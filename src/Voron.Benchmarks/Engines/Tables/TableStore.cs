using Voron.Benchmarks.Workloads;

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
    /// <param name="index">The index.</param>
    /// <param name="key">A section or tag, whose rows are read, or a source, at which the rows begin.</param>
    /// <param name="most">The greatest number of rows.</param>
    /// <param name="sum">Receives the rows.</param>
    public abstract void Read(PackageIndex index, string key, int most, ref RowChecksum sum);

    /// <summary>Ends the read transaction.</summary>
    public abstract void EndRead();

    /// <summary>Inserts the first rows, many in a transaction, and writes them back.</summary>
    /// <param name="packages">Makes the rows.</param>
    /// <param name="rows">The number of rows.</param>
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
