namespace Voron.Documents.Web;

/// <summary>Limits and parts of a server.</summary>
public sealed record ServerOptions
{
    /// <summary>Where it listens: an http URL with an IP address or localhost, or several with semicolons between them. A port of 0 is any that is free.</summary>
    /// <exception cref="ArgumentException">The server cannot listen there.</exception>
    public string Url { get; init => field = ListenUrls.Check(value); } = "http://127.0.0.1:5080";

    /// <summary>The length in bytes of a document at most. A longer one is refused with 413.</summary>
    public int MaxDocumentBytes { get; init; } = 1_000_000;

    /// <summary>The length in bytes of an attachment, and of a file of documents, at most.</summary>
    public long MaxUploadBytes { get; init; } = 1L << 30;

    /// <summary>The number of clients at most that watch at the same time.</summary>
    public int MaxWatches { get; init; } = 100;

    /// <summary>After how long without a change a watch sends a sign of life.</summary>
    public TimeSpan WatchPulse { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>How often documents whose time is over are deleted.</summary>
    public TimeSpan ExpiryInterval { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>The clock of that interval.</summary>
    public TimeProvider Time { get; init; } = TimeProvider.System;

    /// <summary>Tells what is logged; null to log warnings to the console.</summary>
    public Action<ILoggingBuilder>? Logging { get; init; }
}
