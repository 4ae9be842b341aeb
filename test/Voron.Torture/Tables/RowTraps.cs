namespace Voron.Torture.Tables;

/// <summary>What the functions of a definition do besides their work.</summary>
internal sealed class RowTraps
{
    /// <summary>The name of the codec, among those of indexes.</summary>
    public const string Codec = "(codec)";

    /// <summary>The index whose function throws for every row, or null.</summary>
    public string? Armed { get; set; }

    /// <summary>What that function does instead of throwing: a call of the table, which must be refused.</summary>
    public Action? Instead { get; set; }

    /// <summary>Throws if that is asked for.</summary>
    public void Check(TableRow row, string name)
    {
        if (row.Trap == name)
            throw new TrapException();
        if (Armed != name)
            return;
        Instead?.Invoke();
        throw new TrapException();
    }

    /// <summary>Returns whether <see cref="Check"/> throws.</summary>
    public bool Throws(TableRow row, string name) => row.Trap == name || Armed == name;
}

/// <summary>Thrown by the functions of a definition, as planned.</summary>
internal sealed class TrapException() : Exception("A function throws as planned.");
