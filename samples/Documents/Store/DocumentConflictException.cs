using Voron.Tables;

namespace Voron.Documents;

/// <summary>A document was changed, stored or deleted since the caller has read it. Nothing was written.</summary>
public sealed class DocumentConflictException : Exception
{
    internal DocumentConflictException(string id, RowVersion expected, RowVersion actual, bool isDeletion)
        : base(Describe(id, expected, actual, isDeletion ? "deleted" : "written"))
    {
        Id = id;
        Expected = expected;
        Actual = actual;
    }

    /// <summary>The id of the document.</summary>
    public string Id { get; }

    /// <summary>The version that the caller expected; <see cref="RowVersion.None"/> if there was to be no document.</summary>
    public RowVersion Expected { get; }

    /// <summary>The version of the document; <see cref="RowVersion.None"/> if there is none.</summary>
    public RowVersion Actual { get; }

    private static string Describe(string id, RowVersion expected, RowVersion actual, string change)
    {
        var found = actual == RowVersion.None ? "there is no such document" : $"it has version {actual}";
        var wanted = expected == RowVersion.None ? "no document was expected" : $"version {expected} was expected";
        return $"Document '{id}' was not {change}: {wanted}, but {found}. Read the document again, and repeat the change.";
    }
}
