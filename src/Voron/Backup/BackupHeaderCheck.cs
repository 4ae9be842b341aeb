using Voron.Format;

namespace Voron.Backup;

/// <summary>Checks the header of a backup; a valid checksum alone is not trusted.</summary>
internal static unsafe class BackupHeaderCheck
{
    /// <summary>Returns the header in the first block of a backup.</summary>
    /// <param name="block">The block.</param>
    /// <param name="bytes">The number of its bytes that could be read.</param>
    /// <param name="name">The name of the backup, for messages.</param>
    /// <exception cref="BackupException">The block is not a header, is damaged, or is incomplete.</exception>
    /// <exception cref="UnsupportedFormatException">The backup or its environment has a newer format.</exception>
    public static BackupHeader Read(byte* block, int bytes, string name)
    {
        var place = new BackupPlace(name, 0, 0);
        CheckMagic(block, bytes, name);
        if (bytes < BackupHeader.BlockBytes)
            throw place.Unfinished(BackupHeader.BlockBytes, bytes);
        var header = *(BackupHeader*)block;
        var actual = BackupChecksums.OfHeader(block);
        if (header.Checksum != actual)
            throw place.Damaged($"should have the checksum {header.Checksum:X16}, but has {actual:X16}");
        CheckVersions(header, name);
        if (FindFault(header) is { } fault)
            throw place.Damaged($"has a valid checksum, but {fault}");
        if (new ReadOnlySpan<byte>(block + BackupHeader.Size, BackupHeader.BlockBytes - BackupHeader.Size).ContainsAnyExcept((byte)0))
            throw place.Damaged($"contains nonzero bytes from offset {BackupHeader.Size} on");
        return header;
    }

    // An empty file, or one shorter than the first field, may be a truncated backup.
    private static void CheckMagic(byte* block, int bytes, string name)
    {
        var magic = BackupHeader.MagicValue;
        var first = Math.Min(bytes, sizeof(ulong));
        if (new ReadOnlySpan<byte>(block, first).SequenceEqual(new ReadOnlySpan<byte>(&magic, first)))
            return;
        throw new BackupException(
            BackupFault.Damaged,
            $"'{name}' is not a backup: it begins with the bytes {Convert.ToHexString(new ReadOnlySpan<byte>(block, first))} instead of " +
            $"{Convert.ToHexString(new ReadOnlySpan<byte>(&magic, first))}. Choose another file.");
    }

    private static void CheckVersions(in BackupHeader header, string name)
    {
        if (header.Version > BackupHeader.CurrentVersion)
        {
            throw new UnsupportedFormatException(
                $"The backup '{name}' has version {header.Version}, but this program knows only version {BackupHeader.CurrentVersion}. Use a newer version " +
                "of the program.");
        }

        if (header.EnvironmentVersion != 0 && !JournalFormat.IsKnown(header.EnvironmentVersion))
        {
            throw new UnsupportedFormatException(
                $"The backup '{name}' belongs to an environment of format version {header.EnvironmentVersion}, but this program knows only " +
                $"{JournalFormat.KnownVersions}. Use a newer version of the program.");
        }

        var unknown = header.Features & ~JournalFormat.KnownFeatures;
        if (unknown != 0)
        {
            throw new UnsupportedFormatException(
                $"The backup '{name}' belongs to an environment with features that this program does not know: {unknown} (bits " +
                $"{(uint)unknown:X8}). Use a newer version of the program.");
        }

        if (header.KeyId != default)
            throw new UnsupportedFormatException($"The backup '{name}' is encrypted with key {header.KeyId}, but this program cannot decrypt backups.");
    }

    private static string? FindFault(in BackupHeader header)
    {
        if (header.Version == 0)
            return "has the impossible version 0";
        if (header.EnvironmentVersion == 0)
            return "has the impossible format version 0 of the environment";
        if (header.EnvironmentVersion == JournalFormat.Version1 && header.Features != FormatFeatures.None)
            return $"has the features {header.Features}, which no environment of format version 1 has";
        if (!StateStructure.IsPageSize(header.PageSize))
            return $"has an impossible page size of {header.PageSize} bytes";
        if (header.BackupId == default || header.BackupId == header.ParentId)
            return $"has the impossible id {header.BackupId} with the parent {header.ParentId}";
        if (header.ParentTransactionId is < 0 or > StateStructure.MaxTransactionId || (header.IsFull && header.ParentTransactionId != 0))
            return $"has the impossible transaction {header.ParentTransactionId} of the parent {header.ParentId}";
        return header.BeganAt < 0 || header.BeganAt > DateTime.MaxValue.Ticks ? $"has the impossible time {header.BeganAt}" : null;
    }
}
