using System.Reflection;
using Microsoft.CodeAnalysis;

namespace Voron.Analyzers;

/// <summary>The rules, as docs/analyzers.md describes them.</summary>
internal static class Rules
{
    public const string UndisposedId = "VORON001";
    public const string InvalidSpanId = "VORON002";
    public const string AsynchronousOperationId = "VORON003";
    public const string EndedHandleId = "VORON004";

    public const string KeyCopyId = "VORON005";

    /// <summary>A property of VORON002 diagnostics that a copy at the reported place repairs.</summary>
    public const string CopyRepairs = nameof(CopyRepairs);

    /// <summary>A property of VORON001 diagnostics of values that must be disposed with <c>await</c>.</summary>
    public const string OnlyAsyncDisposable = nameof(OnlyAsyncDisposable);

    private const string Lifetime = "Voron.Lifetime";
    private const string Threading = "Voron.Threading";
    private const string Usage = "Voron.Usage";

    public static readonly DiagnosticDescriptor Undisposed = new(
        UndisposedId,
        "A transaction or cursor is not disposed",
        "The {0} that '{1}' returns is {2}; declare it with '{3}'",
        Lifetime, DiagnosticSeverity.Warning, isEnabledByDefault: true,
        "An open read transaction keeps old page versions in memory, and an open write transaction makes all other writers wait.",
        Link(UndisposedId));

    public static readonly DiagnosticDescriptor InvalidSpan = new(
        InvalidSpanId,
        "A span is used when its bytes may have changed",
        "'{0}' {1}; copy the bytes while they are valid, for example with ToArray()",
        Lifetime, DiagnosticSeverity.Warning, isEnabledByDefault: true,
        "A span that was read from a transaction points into its pages. When the transaction has ended, or has written again, other data may be there.",
        Link(InvalidSpanId));

    public static readonly DiagnosticDescriptor AsynchronousOperation = new(
        AsynchronousOperationId,
        "A group-commit operation does asynchronous work",
        "An operation of '{0}' must not {1}",
        Threading, DiagnosticSeverity.Warning, isEnabledByDefault: true,
        "An operation shares its transaction with those of other callers, which wait for it. Its transaction ends when the operation returns.",
        Link(AsynchronousOperationId));

    public static readonly DiagnosticDescriptor EndedHandle = new(
        EndedHandleId,
        "A handle is used after its transaction",
        "'{0}' {1}; use it only while its transaction is open",
        Lifetime, DiagnosticSeverity.Warning, isEnabledByDefault: true,
        "Trees, cursors, ranges and streams belong to their transaction, and throw when it has ended.",
        Link(EndedHandleId));

    public static readonly DiagnosticDescriptor KeyCopy = new(
        KeyCopyId,
        "A key is continued through a copy of its writer",
        "'{0}' is a copy of the writer that '{1}' returns by reference, and fields that are added to it are not in the key; {2}",
        Usage, DiagnosticSeverity.Warning, isEnabledByDefault: true,
        "A table takes a key from its own writer. A copy counts the fields for itself.",
        Link(KeyCopyId));

    // The project file passes the address of the documentation, so that the address of the repository is written down once.
    private static string Link(string id)
    {
        var page = typeof(Rules).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>().First(metadata => metadata.Key == "RulesUrl").Value;
        return $"{page}#{id.ToLowerInvariant()}";
    }
}
