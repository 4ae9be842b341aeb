using System.Collections.Immutable;
using Microsoft.CodeAnalysis;

namespace Voron.Analyzers;

/// <summary>
/// The types of the referenced engine, and what follows from their shapes. Only the few types whose meaning no shape shows are known by name,
/// so that the rules also cover members that are added later.
/// </summary>
internal sealed class VoronTypes
{
    // Each kind of tree, as it is read and as it is written.
    private static readonly (string Read, string Written)[] Trees =
    [
        ("Voron.Tree", "Voron.WriteTree"),
        ("Voron.FixedTree", "Voron.WriteFixedTree"),
        ("Voron.FixedTree`1", "Voron.WriteFixedTree`1"),
        ("Voron.IdTree", "Voron.WriteIdTree"),
        ("Voron.ValueSetTree", "Voron.WriteValueSetTree"),
        ("Voron.Tables.Table`2", "Voron.Tables.WriteTable`2"),
    ];

    // Cursors that delete; and those whose spans end when they move.
    private static readonly string[] Deleting = ["Voron.Cursor", "Voron.FixedCursor"];
    private static readonly string[] Moving = ["Voron.Cursor", "Voron.IdKeyCursor", "Voron.ValueCursor", "Voron.ValueSetCursor"];

    private static readonly string[] Queries = ["Voron.Tables.RowQuery`1", "Voron.Tables.SharedIndexQuery"];

    private readonly INamedTypeSymbol _environment;
    private readonly INamedTypeSymbol _readTransaction;
    private readonly INamedTypeSymbol _writeTransaction;
    private readonly INamedTypeSymbol? _valueWriter;
    private readonly INamedTypeSymbol? _savepoint;
    private readonly INamedTypeSymbol? _nested;
    private readonly ImmutableArray<INamedTypeSymbol> _queries;
    private readonly INamedTypeSymbol? _stream;
    private readonly INamedTypeSymbol? _indexKeys;
    private readonly INamedTypeSymbol? _disposable;
    private readonly INamedTypeSymbol? _asyncDisposable;
    private readonly ImmutableDictionary<ISymbol, ImmutableHashSet<string>> _readsOfTrees;
    private readonly ImmutableHashSet<ISymbol> _deletingCursors;
    private readonly ImmutableHashSet<ISymbol> _movingCursors;

    private VoronTypes(Compilation compilation, INamedTypeSymbol environment, INamedTypeSymbol[] types)
    {
        _environment = environment;
        _readTransaction = types[0];
        _writeTransaction = types[1];
        _deletingCursors = TypesOf(compilation, Deleting);
        _movingCursors = TypesOf(compilation, Moving);
        _valueWriter = compilation.GetTypeByMetadataName("Voron.ValueWriter");
        _savepoint = compilation.GetTypeByMetadataName("Voron.Savepoint");
        _nested = compilation.GetTypeByMetadataName("Voron.NestedTransaction");
        _queries =
        [
            .. Queries.Select(compilation.GetTypeByMetadataName).OfType<INamedTypeSymbol>(),
        ];
        _indexKeys = compilation.GetTypeByMetadataName("Voron.Tables.IndexKeys");
        _stream = compilation.GetTypeByMetadataName("System.IO.Stream");
        _disposable = compilation.GetTypeByMetadataName("System.IDisposable");
        _asyncDisposable = compilation.GetTypeByMetadataName("System.IAsyncDisposable");
        _readsOfTrees = Trees
            .Select(kind => (Read: compilation.GetTypeByMetadataName(kind.Read), Written: compilation.GetTypeByMetadataName(kind.Written)))
            .Where(kind => kind is { Read: not null, Written: not null })
            .ToImmutableDictionary<(INamedTypeSymbol? Read, INamedTypeSymbol? Written), ISymbol, ImmutableHashSet<string>>(
                kind => kind.Written!, kind => [.. kind.Read!.GetMembers().Select(member => member.Name)], SymbolEqualityComparer.Default);
    }

    /// <summary>The types that a compilation refers to; null if it does not use the engine, or is the engine.</summary>
    public static VoronTypes? Of(Compilation compilation)
    {
        var environment = compilation.GetTypeByMetadataName("Voron.StorageEnvironment");
        if (environment == null || Same(environment.ContainingAssembly, compilation.Assembly))
            return null;
        string[] names = ["Voron.ReadTransaction", "Voron.WriteTransaction"];
        var types = names.Select(compilation.GetTypeByMetadataName).OfType<INamedTypeSymbol>().ToArray();
        return types.Length == names.Length ? new(compilation, environment, types) : null;
    }

    public static bool Same(ISymbol? left, ISymbol? right) => SymbolEqualityComparer.Default.Equals(left, right);

    /// <summary>Whether the engine declares the symbol.</summary>
    public bool IsVoron(ISymbol? symbol) => symbol != null && Same(symbol.ContainingAssembly, _environment.ContainingAssembly);

    public bool IsTransaction(ITypeSymbol? type) => Same(type, _readTransaction) || Same(type, _writeTransaction);

    public bool IsWriteTransaction(ITypeSymbol? type) => Same(type, _writeTransaction);

    public bool IsSavepoint(ITypeSymbol? type) => _savepoint != null && Same(type, _savepoint);

    public bool IsNested(ITypeSymbol? type) => _nested != null && Same(type, _nested);

    /// <summary>The type of the value inside a nullable, a task, or a wrapper of a task.</summary>
    public static ITypeSymbol? Unwrap(ITypeSymbol? type)
    {
        while (type is INamedTypeSymbol { TypeArguments.Length: 1 } generic
            && (generic.OriginalDefinition.SpecialType == SpecialType.System_Nullable_T || IsTaskLike(generic) || IsAwaiting(generic)))
            type = generic.TypeArguments[0];
        return type;
    }

    public static bool IsTaskLike(ITypeSymbol? type) =>
        type is { Name: "Task" or "ValueTask" } && IsIn(type, "System", "Threading", "Tasks");

    /// <summary>Whether a type is an awaiter of a task, or a configured task.</summary>
    public static bool IsAwaiting(ITypeSymbol? type)
    {
        if (type?.ContainingType is { } outer)
            return IsAwaiting(outer);
        return type is { Name: "TaskAwaiter" or "ValueTaskAwaiter" or "ConfiguredTaskAwaitable" or "ConfiguredValueTaskAwaitable" }
            && IsIn(type, "System", "Runtime", "CompilerServices");
    }

    /// <summary>Whether a type is in a namespace, given from the outermost part to the innermost.</summary>
    public static bool IsIn(ISymbol? symbol, params string[] names)
    {
        var space = symbol?.ContainingNamespace;
        for (var i = names.Length - 1; i >= 0; i--, space = space.ContainingNamespace)
        {
            if (space == null || space.Name != names[i])
                return false;
        }

        return space is { IsGlobalNamespace: true };
    }

    /// <summary>Whether a symbol belongs to the framework: namespace System, or one below it.</summary>
    public static bool IsSystem(ISymbol? symbol)
    {
        var space = symbol?.ContainingNamespace;
        while (space is { ContainingNamespace.IsGlobalNamespace: false })
            space = space.ContainingNamespace;
        return space is { Name: "System", IsGlobalNamespace: false };
    }

    public static bool IsSpan(ITypeSymbol? type) =>
        type is INamedTypeSymbol { Name: "Span" or "ReadOnlySpan", TypeArguments.Length: 1 } && IsIn(type, "System");

    /// <summary>
    /// Whether a caller must dispose a value of this type: it is a public type of the engine that can be disposed. The environment is not
    /// among them, because programs keep it for as long as they run.
    /// </summary>
    public bool MustBeDisposed(ITypeSymbol? type) =>
        type is INamedTypeSymbol { DeclaredAccessibility: Accessibility.Public } && IsVoron(type) && !Same(type, _environment)
        && type.AllInterfaces.Any(contract => Same(contract, _disposable) || Same(contract, _asyncDisposable));

    /// <summary>Whether a method returns the object on which it is called, as those that set the direction and the limit of a query do.</summary>
    public bool ReturnsItself(IMethodSymbol method) =>
        _queries.Any(query => Same(method.ContainingType.OriginalDefinition, query) && Same(method.ReturnType.OriginalDefinition, query));

    /// <summary>Whether a type is the one that receives the keys of a row.</summary>
    public bool IsIndexKeys(ITypeSymbol? type) => _indexKeys != null && Same(type, _indexKeys);

    /// <summary>Whether a type offers only asynchronous disposal.</summary>
    public bool IsOnlyAsyncDisposable(ITypeSymbol type) => !type.AllInterfaces.Any(contract => Same(contract, _disposable));

    public LifetimeKind KindOf(ITypeSymbol? type)
    {
        type = Unwrap(type);
        if (IsSpan(type))
            return LifetimeKind.View;
        if (IsTransaction(type))
            return LifetimeKind.Transaction;
        if (type is not INamedTypeSymbol { TypeKind: TypeKind.Struct or TypeKind.Class } named)
            return LifetimeKind.None;
        if (DerivesFrom(named, _stream))
            return LifetimeKind.Handle;
        if (named.TypeKind != TypeKind.Struct || !IsVoron(named))
            return LifetimeKind.None;
        if (named.IsRefLikeType)
            return HasPlace(named) ? LifetimeKind.Handle : LifetimeKind.View;
        // Plain data compares by value; handles do not.
        return named.AllInterfaces.Any(contract => contract.Name == "IEquatable") ? LifetimeKind.None : LifetimeKind.Handle;
    }

    /// <summary>Whether a parameter or field of this type stands for a transaction, or for a part of one, when nothing more is known.</summary>
    public bool IsRoot(ITypeSymbol? type) =>
        KindOf(type) is LifetimeKind.Transaction or LifetimeKind.Handle && Unwrap(type) is { TypeKind: TypeKind.Struct, IsRefLikeType: false };

    /// <summary>
    /// Whether a call writes in a transaction, which invalidates spans. A method of a tree that can be written does, unless the read-only tree
    /// has one of the same name. Opening or creating a tree may write nothing, so it does not count.
    /// </summary>
    public bool Writes(IMethodSymbol method)
    {
        var type = method.ContainingType;
        if (method.IsStatic || method.MethodKind != MethodKind.Ordinary || !IsVoron(type))
            return false;
        if (_readsOfTrees.TryGetValue(type.OriginalDefinition, out var reads))
            return !method.IsOverride && !reads.Contains(method.Name) && KindOf(method.ReturnType) != LifetimeKind.Handle;
        if (Same(type, _savepoint))
            return method.Name == "Rollback";
        if (_valueWriter != null && Same(type, _valueWriter))
            return method.Name == "Complete";
        return (Same(type, _writeTransaction) || _deletingCursors.Contains(type))
            && (method.Name.StartsWith("Delete", StringComparison.Ordinal) || method.Name.StartsWith("Rename", StringComparison.Ordinal)
                || method.Name.StartsWith("Put", StringComparison.Ordinal) || method.Name.StartsWith("Replace", StringComparison.Ordinal)
                || method.Name.StartsWith("Clear", StringComparison.Ordinal));
    }

    /// <summary>Whether a type is a cursor whose spans end when it moves.</summary>
    public bool IsCursor(ITypeSymbol? type) => type != null && _movingCursors.Contains(type);

    /// <summary>Whether a call moves such a cursor.</summary>
    public bool Moves(IMethodSymbol method) => IsCursor(method.ContainingType)
        && (method.Name.StartsWith("Move", StringComparison.Ordinal) || method.Name.StartsWith("Seek", StringComparison.Ordinal));

    /// <summary>The parameters of a call that are operations of a group commit: delegates that receive a write transaction.</summary>
    public bool IsOperation(IParameterSymbol? parameter) =>
        parameter?.Type is INamedTypeSymbol { DelegateInvokeMethod: { } invoke } && IsVoron(parameter.ContainingSymbol)
        && invoke.Parameters.Any(received => IsWriteTransaction(received.Type));

    public static bool IsDispose(IMethodSymbol method) => method is { Name: "Dispose" or "DisposeAsync", Parameters.Length: 0 };

    private static ImmutableHashSet<ISymbol> TypesOf(Compilation compilation, string[] names) =>
        names.Select(compilation.GetTypeByMetadataName).OfType<ISymbol>().ToImmutableHashSet(SymbolEqualityComparer.Default);

    private static bool DerivesFrom(INamedTypeSymbol type, INamedTypeSymbol? ancestor)
    {
        for (var current = type; current != null && ancestor != null; current = current.BaseType)
        {
            if (Same(current, ancestor))
                return true;
        }

        return false;
    }

    // A ref struct that is moved, written or released holds a place in its tree; any other one holds spans only.
    private static bool HasPlace(INamedTypeSymbol type) => type.GetMembers().Any(member => member is IMethodSymbol
    {
        IsStatic: false, DeclaredAccessibility: Accessibility.Public, Name: "MoveNext" or "GetEnumerator" or "Advance" or "Dispose",
    });
}
