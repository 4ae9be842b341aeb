namespace Voron;

/// <summary>
/// Identifies a kind of object that write transactions attach to their commits, such as the parsed schemas of the environment: see
/// <see cref="WriteTransaction.SetState"/>.
/// </summary>
/// <typeparam name="T">The type of the object, which must be immutable: many threads read it concurrently.</typeparam>
/// <remarks>
/// Keys are compared by reference, not by name: keep one object, usually in a static field, and use it for all environments. Define only a few keys.
/// </remarks>
public sealed class CommitStateKey<T>
    where T : class
{
    /// <summary>Creates a key.</summary>
    /// <param name="name">The name of the kind of object, for messages and the debugger. Two keys of the same name are different keys.</param>
    /// <exception cref="ArgumentException">The name is null or empty.</exception>
    public CommitStateKey(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        Name = name;
    }

    /// <summary>The name of the kind of object.</summary>
    public string Name { get; }

    /// <summary>Returns the name and the type.</summary>
    public override string ToString() => $"{Name} ({typeof(T).Name})";
}
