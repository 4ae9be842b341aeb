namespace Voron.Documents.Tool.Compare;

/// <summary>The names of the figures.</summary>
internal static class Measures
{
    public const string Import = "documents imported a second";
    public const string Callers = "64 callers, each waiting for its own document: documents a second";
    public const string Read = "documents read by id a second";
    public const string Range = "documents read by index a second";
    public const string SearchMedian = "best 10 of a search, p50, us";
    public const string SearchTail = "best 10 of a search, p99, us";
    public const string Size = "bytes of all files";
}
