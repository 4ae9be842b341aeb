namespace Voron;

/// <summary>
/// A backup cannot be made, read or restored: <see cref="Fault"/> names the kind of reason, and the message names file, place, expected and actual
/// values.
/// </summary>
public sealed class BackupException : VoronException
{
    internal BackupException(BackupFault fault, string message, Exception? cause = null)
        : base(message, cause)
    {
        Fault = fault;
    }

    /// <summary>The kind of reason.</summary>
    public BackupFault Fault { get; }
}
