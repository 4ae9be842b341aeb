namespace Voron.Backup;

/// <summary>A place in a backup, for messages.</summary>
/// <param name="Name">The name of the backup.</param>
/// <param name="Offset">The offset in bytes.</param>
/// <param name="Sequence">The sequence of the frame; 0 for the header of the backup.</param>
internal readonly record struct BackupPlace(string Name, long Offset, long Sequence)
{
    private const string Remedy = "Use another copy of the backup, or another backup.";

    /// <summary>Returns the exception for bytes that differ from the written ones.</summary>
    /// <param name="fault">The fault, as a predicate of the header or the frame, with the expected and the actual value.</param>
    public BackupException Damaged(string fault) => new(BackupFault.Damaged, $"The backup '{Name}' is damaged: {Part} {fault}. {Remedy}");

    /// <summary>Returns the exception for a backup that ends too early.</summary>
    /// <param name="needed">The number of bytes that must follow the place, as far as known.</param>
    /// <param name="available">The number of bytes that do follow it.</param>
    public BackupException Unfinished(long needed, long available) => new(
        BackupFault.Unfinished,
        $"The backup '{Name}' is unfinished: {Part} needs {needed} bytes, but only {available} follow, and there is no trailer. {Remedy}");

    private string Part => Sequence == 0 ? "the header" : $"frame {Sequence} at offset {Offset}";
}
