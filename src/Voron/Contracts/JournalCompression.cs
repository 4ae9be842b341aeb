namespace Voron;

/// <summary>Whether transaction records are compressed before they are written.</summary>
public enum JournalCompression
{
    /// <summary>Compresses while writing to the device is slower than compressing, as measured at run time.</summary>
    Auto,

    /// <summary>Compresses whenever that makes a record smaller.</summary>
    Always,

    /// <summary>Never compresses.</summary>
    Never,
}
