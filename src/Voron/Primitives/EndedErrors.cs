using System.Diagnostics.CodeAnalysis;

namespace Voron.Primitives;

/// <summary>
/// The exceptions for handles used after their end. The first sentence names the ended object, and is the same wherever the misuse is detected.
/// </summary>
internal static class EndedErrors
{
    [DoesNotReturn]
    public static void ThrowTransaction() => throw Transaction(" It was committed, rolled back or disposed: begin another one.");

    /// <param name="hint">Further sentences, starting with a space; empty for none.</param>
    public static ObjectDisposedException Transaction(string hint = "") => new("transaction", "The transaction has ended." + hint);

    /// <summary>The handle belongs to a group-commit operation that has returned, or has disposed of its transaction.</summary>
    [DoesNotReturn]
    public static void ThrowOperation() => throw Transaction(
        " It belonged to a group-commit operation, which must use only the transaction that it receives, and only until it returns.");

    /// <summary>The handle of a tree was opened after a savepoint, to which its transaction was rolled back.</summary>
    [DoesNotReturn]
    public static void ThrowTree() => throw new ObjectDisposedException(
        "tree", "The tree is closed. It was opened after a savepoint to which the transaction was rolled back: open it again.");

    /// <summary>The cursor was disposed, or its tree was closed by a rollback to a savepoint.</summary>
    [DoesNotReturn]
    public static void ThrowCursor() => throw new ObjectDisposedException("cursor", "The cursor is closed.");

    [DoesNotReturn]
    public static void ThrowQuery() => throw new ObjectDisposedException("query", "The query has ended. It was disposed: open another one.");

    [DoesNotReturn]
    public static void ThrowStream() => throw new ObjectDisposedException("stream", "The stream is closed.");

    /// <summary>The writer of a value was completed or disposed.</summary>
    [DoesNotReturn]
    public static void ThrowValueWriter() => throw new ObjectDisposedException(
        "value writer", "The value writer has ended. Flush a Utf8JsonWriter, or any other writer on top of it, before you complete or dispose it.");

    /// <summary>A staged value was disposed before it was put.</summary>
    public static ObjectDisposedException StagedValue() => new(
        "staged value", "The staged value has ended. It was disposed, and its bytes were discarded: stage it again.");

    public static ObjectDisposedException BulkLoad() => new("bulk load", "The bulk load has ended. It was disposed: begin another one.");

    [DoesNotReturn]
    public static void ThrowSavepoint() => throw new ObjectDisposedException(
        "savepoint", "The savepoint has ended. It was released, or an outer one was rolled back or released.");

    [DoesNotReturn]
    public static void ThrowNestedTransaction() => throw new ObjectDisposedException(
        "nested transaction", "The nested transaction has ended. It was committed or disposed, or an outer savepoint was rolled back or released.");

    /// <param name="path">The directory of the environment.</param>
    /// <param name="hint">Further sentences, starting with a space; empty for none.</param>
    public static ObjectDisposedException Environment(string path, string hint = "") => new(
        nameof(StorageEnvironment), $"The environment in '{path}' is closed.{hint}");

    /// <summary>The handle is a default value, which belongs to nothing.</summary>
    /// <param name="kind">The kind of handle, as users know it.</param>
    /// <param name="call">The call that returns one.</param>
    [DoesNotReturn]
    public static void ThrowDefault(string kind, string call) => throw new InvalidOperationException(
        $"This {kind} was never begun or opened: it is a default value. {call} returns one that can be used.");
}
