namespace Voron.Tests.Transactions;

/// <summary>An object to attach to commits, and short calls to attach it and to read it.</summary>
internal static class CommitStateKit
{
    public static readonly CommitStateKey<Schema> Key = new("schema");

    /// <summary>Returns the version of the object that the transaction has; 0 for none.</summary>
    public static int VersionIn(ReadTransaction reading) => reading.TryGetState(Key, out var schema) ? schema.Version : 0;

    /// <inheritdoc cref="VersionIn(ReadTransaction)"/>
    public static int VersionIn(WriteTransaction writing) => writing.TryGetState(Key, out var schema) ? schema.Version : 0;

    /// <summary>Returns the version that a snapshot which begins now has; 0 for none.</summary>
    public static int VersionNow(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        return VersionIn(reading);
    }

    public static void Set(WriteTransaction writing, int version) => writing.SetState(Key, version == 0 ? null : new Schema(version));

    /// <summary>Commits a transaction that does nothing but attach the object.</summary>
    public static void Commit(StorageEnvironment environment, int version)
    {
        using var writing = environment.BeginWrite();
        Set(writing, version);
        writing.Commit();
    }

    internal sealed record Schema(int Version);
}
