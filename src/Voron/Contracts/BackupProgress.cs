namespace Voron;

/// <summary>How far a backup has come.</summary>
/// <param name="PagesCopied">The number of pages that have been copied. A page that has changed and is copied again counts again.</param>
/// <param name="PagesExpected">The number of pages that will be copied if no more pages change.</param>
/// <param name="Bytes">The number of bytes that have been written.</param>
public readonly record struct BackupProgress(long PagesCopied, long PagesExpected, long Bytes);
